"""The words by which people take back, change or end what they said before.

Every pattern reads one clause in lower case and simplified characters. A group `old` is what no
longer holds, a group `new` what holds instead.
"""

from __future__ import annotations

from enum import StrEnum

from plastic_memories.language.text.lazy_regex import regex


class CorrectionCue(StrEnum):
    """How a clause corrects: a mistake, a named old value, an end, or a change."""

    MISTAKE = "mistake"
    NAMED = "named"
    ENDED = "ended"
    CHANGED = "changed"


_SAID = r"(?:刚才|刚刚|之前|上次|头先|先前|上面|前面|早前)我?(?:说|讲|话|写|打|提)"
# Not of somebody else's mistake, and not `没记错的话`.
_MISTAKE = (
    r"(?<![没冇未你他她佢谁])(?:记|看|打|说|讲|搞|算|计|弄|写|听|发)(?:错|岔|混)(?!题|过|人)"
    rf"|口误|笔误|更正|误诊|{_SAID}[^，]{{0,14}}(?:不对|错|唔啱|不准|作废|不算|唔系|少了|多了)"
    r"|^w?hoops\b|^w?oops\b|\b(?:sorry|oops|whoops|wait),? i said\b"
    r"|\b(?:scratch|scrap|strike) that\b|\bi (?:meant(?! to)|misspoke|mistyped)\b"
    r"|\bmy (?:mistake|bad)\b"
    r"|\bi got (?:that|it|the \w+) wrong\b|\b(?:i|got) mixed up\b"
    r"|\bi was wrong\b|^correction\b|\btypo\b"
    r"|\bignore (?:what i said|that last)\b|\bforget what i said\b"
)
_NAMED = (
    r"(?:不要|别|唔好|莫)(?:再|继续)?(?:叫|喊|称呼)我(?:做|作)?(?P<old>[^，]{1,12})",
    r"(?:^|我|其实)(?:不|唔)(?:再)?(?:是|系)?叫(?P<old>[^了啦喇哈，]{1,8})(?:了|啦|喇|哈|$)",
    r"(?:不是|唔系|并非)(?P<old>[^，是系]{1,14})(?:而是|是|系)(?P<new>[^，]{1,20})",
    r"(?:是|系)(?P<new>[^，是系]{1,14})(?:不是|唔系|而不是)(?P<old>[^，]{1,14})$",
    r"^(?:不是|唔系)(?P<old>[^，是系]{1,10})$",
    r"(?:其实|原来|并)(?:不是|唔系)(?P<old>[^，是系]{2,14})$",
    r"\bnot (?P<old>\d\w{0,5})$",
    r"(?:从|由)(?P<old>[^，]{1,12}?)(?:改|换|转|调|挪|搬)(?:到|成|去|为|做|咗)+(?P<new>[^，]{1,16})",
    r"(?:把|将)(?P<old>[^，]{1,12}?)(?:改|换|转|调|挪)(?:到|成|去|为|做)(?P<new>[^，]{1,16})",
    r"\b(?:don't|dont|do not|stop|quit|no more) call(?:ing)? me (?P<old>[^,]{1,24})",
    r"(?:^|\b(?:is|was|are|it's|its) )not (?P<old>[^,]{1,30}?) but (?P<new>[^,]{1,40})",
    r"\b(?:switch\w*|chang\w*|mov\w*|transferr\w*|went|going) from (?P<old>[^,]{1,30}?) to "
    r"(?P<new>[^,]{1,40})",
    r"\b(?:is|are|it's|its|on|at|now|the|actually) \S.{0,60}? not (?:on |in |at )?(?:the |a |an )?"
    r"(?P<old>[^,]{2,24})$",
    r"^not (?:on |in |at )?(?:the |a |an )?(?P<old>[\w' ]{2,24})$",
    r"^(?:(?!n't|\bnot\b|\bdont\b).){0,90}?\bno more (?P<old>[^,]{2,24})",
)
_NOT_MORE = r"(?:不|唔|冇再|没再|不再)(?!是|系|对|行|错|得|好|见|早|晚|知|用|管|说|讲|聊|理|要紧)"
_ENDED = (
    rf"(?P<old>[^，]{{0,12}}?){_NOT_MORE}(?P<more>[^，就才都也一]{{1,6}}?)(?:了|喇)(?:哈|啊|呀)?$",
    r"(?P<old>[^，]{1,12}?)(?:没|冇)(?:再)?(?P<more>[^，有事人钱电空就]{1,4}?)(?:了|喇)$",
    r"(?P<old>[^，]{1,12}?)(?:(?:看|追|读|学|睇|打)完|搬走|离职)(?:了|咗|喇)",
    r"^(?P<old>[\w' ]{2,24}) (?:left|moved out|resigned)$",
    r"\b(?:finished|renamed)\b(?P<old>[^,]{2,30})",
    r"(?P<old>[^，]{0,12}?)唔(?:再)?(?P<more>[^，就先都夠够得]{1,5}?)啦$",
    r"(?P<old>[^，]{1,14}?)(?:都|已经|已|给|也|就)?(?:(?<!消)停|扔|戒|退|取消|作废|黄|泡汤|卖|辞)"
    r"(?:了|掉|咗|喇|啦)",
    r"(?:跟|和|同|与)(?P<old>[^，]{1,8}?)(?:已经)?(?:分手|分|散|离|掰)(?:了|咗|喇|啦|$)",
    r"取消|分手|离婚|送(?:人|走|俾人|给(?:别人|朋友))|辞职|离职|裸辞|被裁|痊愈|好返|已经好了|退学|退租"
    r"|退订|作废|泡汤|不了了之|劈炮|病好|好全了",
    r"(?P<old>[^,]{1,40}?)\b(?:is|are|got|was) (?:off|cancel+ed|called off)\b"
    r"(?! (?:to|work|today))",
    r"(?<!never )\b(?:quit|quitting|gave up|ditched|cancel+ed|called off|done with|got rid of|"
    r"gave away|stopped(?= \w+ing)|dropped out of)\b(?P<old>[^,]{0,40})",
    r"\b(?:broke up|broken up|split up|got divorced|laid off|got fired|fell through|rehomed|"
    r"healed|all better)\b",
    r"\bno longer\b(?P<old>[^,]{0,40})",
    r"\bturns? out .{0,20}?(?:not|n't|dont|isnt|never)\b(?P<old>[^,]{1,40})",
    r"(?:其实|原来)我?(?:不|没|唔|冇)(?!是|系|想|知|会|用|太)(?P<old>[^，]{2,12})",
    r"(?:^|\b(?:i|we|just|finally) )(?:sold|resigned from|handed in my notice at)\b"
    r"(?P<old>[^,]{0,40})",
    r"\b(?:handed in my notice|resigned)\b",
    r"\bi (?:just |finally )?left (?!my\b|the\b|it\b|him\b|her\b|home\b|early\b|a\b)"
    r"(?P<old>[^,]{2,30})",
    r"\b(?:not|n't|dont|cant|wont|aint|isnt|doesnt|never|no)\b(?P<old>[^,]{1,60}?)"
    r"\b(?:any ?more|no more|after all)\b",
)
_CHANGED = (
    r"改(?:期|名|成|到|在|为|做|咗|日|时间|了|去|天|签|约)|(?:挪|推|推迟|延期|延后|延迟|提前|提早|顺延|"
    r"推后)(?:到|至|了|咗|去)|换(?:成|了|咗|到|一个|药|工作|号|学校|专业|房|地方|去)|"
    r"转(?:咗|成|到|去|专业|学|行|做|岗|工)|调(?:岗|到|去|成)|搬(?:到|去|家|咗|了)|"
    r"升(?:职|做|为)|减药|跳槽|(?:不|唔)(?:是|系).{1,10}(?:了|啦|喇)$"
    r"|\b(?:got|was|is|been|they|have|has) (?:moved|changed|pushed)\b|\bmake (?:it|that) \d"
    r"|\bmoved (?:to|up|back|forward|out|it)\b|\bchanged (?:to|from|jobs?|plans|my mind|again)\b"
    r"|\b(?:upped|increased|lowered|reduced) (?:my|the|it)\b|\bpushed (?:to|back|it|forward)\b"
    r"|\b(?:bumped|shifted|postponed|delayed|rescheduled|brought forward|"
    r"put (?:\w+ ){0,2}back(?= (?:to|until|till|by|a)\b)|switch(?:ed|ing)|swapped|"
    r"transferred|upside down|promoted|"
    r"promotion|new job)\b|\binstead$"
    r"|\bchanged (?:his|her|their) mind\b|\bgot my own (?:place|flat|apartment)\b"
    r"|\b(?:better|rather|just|now) call me\b|(?:还是|以后|改|就|先)叫我"
)
CUES = (
    *((CorrectionCue.NAMED, regex(pattern)) for pattern in _NAMED),
    *((CorrectionCue.ENDED, regex(pattern)) for pattern in _ENDED),
    (CorrectionCue.MISTAKE, regex(_MISTAKE)),
    (CorrectionCue.CHANGED, regex(_CHANGED)),
)
# The speaker asks, supposes, or tells of a story: nothing is corrected.
NOT_STATED = regex(
    r"(?:想|要不|打算|准备|计划|考虑|会不会)(?:要)?(?:换|改|搬|转|辞|调|取消)|^不如|"
    r"^(?:如果|要是|假如|万一|若|可能|也许|或者|会不会|是不是|能不能|要不要)|的话$|[吗么咩]$|(?<!为)什么"
    r"|\b(?:if|unless|maybe|might|should i|would|could|wish|pretend|in the (?:story|game|movie))\b"
)
# The clause speaks of the listener and not of the speaker; a wish to be called otherwise is none.
OF_LISTENER = regex(
    r"^(?!你(?:换|改|先|就|别|唔好|不要))(?:(?!我).)*你(?:(?!我).)*$"
    r"|^(?:(?!\b(?:i|my|me)\b).)*\b(?:you|your|u|ur)\b(?:(?!\b(?:i|my|me)\b).)*$"
)
# The clause repeats what was said before, to correct it: 头先话豉油六岁.
RESTATES_OLD = regex(
    rf"^.{{0,4}}?{_SAID}|\b(?:i|i've|i had) (?:said|told you|mentioned|thought)\b|\blike i said\b"
)

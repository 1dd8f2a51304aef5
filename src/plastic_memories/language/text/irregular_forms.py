"""Irregular English forms that stemming does not unify: `bought` is found by `buy`.

Forms that are as often another word are left out: ground, wound, rose, shot, lives, leaves.
"""

from __future__ import annotations

_VERBS = """
awake awoke awoken | become became | begin began begun | bend bent | bite bitten
bleed bled | blow blew blown | break broke broken | breed bred | bring brought | build built
buy bought | catch caught | choose chose chosen | come came | creep crept | deal dealt | dig dug
draw drew drawn | dream dreamt | drink drank drunk | drive drove driven | eat ate eaten
fall fell fallen | feed fed | feel felt | fight fought | find found | flee fled | fly flew flown
forbid forbade forbidden | forget forgot forgotten | forgive forgave forgiven
freeze froze frozen | get got gotten | give gave given | go went gone
grow grew grown | hang hung | hear heard | hide hid hidden | hold held | keep kept | kneel knelt
know knew known | lay laid | lead led | lean leant | leap leapt | learn learnt | leave left
lend lent | light lit | lose lost | make made | mean meant | meet met
mistake mistook mistaken | overcome overcame | pay paid | ride rode ridden | ring rang rung
rise risen | run ran | say said | see saw seen | seek sought | sell sold | send sent
sew sewn | shake shook shaken | shine shone | show shown | shrink shrank shrunk
sing sang sung | sink sank sunk | sit sat | sleep slept | slide slid | smell smelt
speak spoke spoken | spell spelt | spend spent | spin spun | spill spilt | stand stood
steal stole stolen | stick stuck | sting stung | strike struck | swear swore sworn | sweep swept
swell swollen | swim swam swum | swing swung | take took taken | teach taught | tear tore torn
tell told | think thought | throw threw thrown | undergo underwent undergone
understand understood | wake woke woken | wear wore worn | weave wove woven | weep wept | win won
withdraw withdrew withdrawn | write wrote written
"""
_NOUNS = """
child children | foot feet | goose geese | grandchild grandchildren | half halves | knife knives
loaf loaves | man men | mouse mice | person people | scarf scarves
shelf shelves | thief thieves | tooth teeth | wife wives | wolf wolves | woman women
"""


def _lemmas_by_form(*tables: str) -> dict[str, str]:
    """Return form → lemma; a form of two lemmas belongs to the first."""
    found: dict[str, str] = {}
    for table in tables:
        for group in table.replace("\n", "|").split("|"):
            plain, *forms = group.split() or [""]
            for form in forms:
                found.setdefault(form, plain)
    return found


LEMMA_BY_FORM = _lemmas_by_form(_VERBS, _NOUNS)

"""English: name, form of address, birthday, age, work, school and place of the user."""

from __future__ import annotations

import re
from collections.abc import Iterator

from plastic_memories.rules.talk import dates
from plastic_memories.rules.talk.en_clause import Said, Subject, tidy
from plastic_memories.rules.talk.found import LIKELY, SURE, Found
from plastic_memories.rules.talk.numerals import en_number

_I = re.IGNORECASE
_NAME = r"(?P<v>[\u3400-\u9fff]{1,6}|[A-Za-z][\w'-]*\.?(?: (?-i:[A-Z])[\w'-]*){0,3})"
_NAMED = re.compile(
    rf"^(?:my|the) (?P<w>full |real |first |actual |given |english |chinese |nick|pen )?name is {_NAME}(?: and\b.*| by the way)?$",
    _I,
)
_NAME_LABEL = re.compile(rf"^name: ?{_NAME}$", _I)
_NICKNAME = re.compile(rf"^my nickname is {_NAME}$", _I)
_GO_BY = re.compile(
    rf"^(?:i go by|i (?:prefer|like|want) to be called|i prefer|i am known as|(?:(?:please|just|always|you|can|may|could|so|feel free to|my|friends|family|people|everyone|everybody|most|they|all|usually|simply|colleagues) )*(?:calls? me|address me as|refer to me as)) {_NAME}(?: instead| please| from now on| for short|, okay)?$",
    _I,
)
_I_AM_NAME = re.compile(r"^I am (?P<v>(?-i:[A-Z][a-z]{2,})(?: (?-i:[A-Z][a-z]+)){0,2})$", _I)
_NOT_A_NAME = re.compile(
    r"^(?:not|what|the|a|an|later|back|tomorrow|when|if|at|on|in|crazy|maybe|old|up|again|tonight|by|after|before|important|unknown|whatever|"
    r"anything|something|that|this|it|names|stupid|lazy|tea|coffee|short|long|concise|brief|to|working|being|cats|dogs|sure|fine|sorry|here|"
    r"and|so|very|your|my|his|her|their|names?)\b|(?:an|ese|ish|ian|ing)$",
    _I,
)
_NOT_A_PERSON = re.compile(
    r"^(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|vegan|vegetarian|catholic|muslim|buddhist|jewish|french|dutch|greek|american|asian|black|white|tired|happy|sad|hungry|sick|bored|single|married|sorry|glad|fine|good|great|ready|back|home|here|done|busy|late|new|aware|excited|afraid|infp|infj|intj|intp|enfp|entp|libra|leo|virgo|aries|gemini|taurus|scorpio|pisces|aquarius|cancer|capricorn|sagittarius|thai|swiss|welsh|czech|iraqi|pakistani|israeli)$",
    _I,
)
_BIRTHDAY = re.compile(
    r"^(?:my (?:birthday|date of birth|birth ?date|bday) (?:is|falls)|birthday: |i was born (?:on|in)|(?:.{3,24}) is my (?:birthday|bday)$)",
    _I,
)
_BORN_YEAR = re.compile(r"^i was born in (?P<y>(?:19|20)\d\d)$", _I)
_BORN_PLACE = re.compile(r"^i was born (?:and raised )?in (?P<v>(?-i:[A-Z])[\w' -]{2,30})$", _I)
_AGE = re.compile(
    r"^(?:i am|i have turned|i turned|i just turned|i have just turned|my age is|age: )\s*(?:just )?(?P<n>\d{1,3}|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty)(?:[ -](?:one|two|three|four|five|six|seven|eight|nine))?|(?:thir|four|fif|six|seven|eigh|nine)teen|twelve|eleven|ten)(?: ?(?:years? old|yrs? old|years? of age|y/?o))?(?: (?:this year|now|today|yesterday|last \w+))?$",
    _I,
)
JOBS = (
    "engineer|developer|programmer|designer|teacher|professor|doctor|nurse|lawyer|attorney|accountant|manager|director|writer|author|journalist|editor|artist|painter|"
    "musician|singer|actor|actress|chef|cook|baker|driver|pilot|police officer|cop|firefighter|soldier|scientist|researcher|analyst|consultant|architect|student|"
    "freelancer|entrepreneur|founder|barista|bartender|waiter|waitress|cashier|clerk|secretary|assistant|mechanic|electrician|plumber|carpenter|farmer|dentist|vet|"
    "veterinarian|pharmacist|therapist|psychologist|photographer|translator|interpreter|librarian|banker|trader|salesperson|salesman|marketer|recruiter|coach|trainer|"
    "nanny|stay-at-home (?:mom|dad|parent)|housewife|homemaker|intern|technician|surgeon|paramedic|biologist|chemist|physicist|mathematician|economist|historian|"
    "philosopher|poet|novelist|streamer|youtuber|blogger|influencer|model|dancer|tutor|lecturer|administrator|officer|operator|tester|devops|sre|product manager|"
    "data scientist|civil servant|social worker|sailor|captain|tour guide|flight attendant|hairdresser|tailor|florist|gardener|janitor|guard|judge|politician|priest|"
    "undergraduate|undergrad|postgrad|phd candidate|phd student|freshman|sophomore|animator|illustrator|composer|producer|filmmaker|carer|caregiver|small business owner|business owner|contractor"
)
# Without an article only plain words may stand before the trade: "I am considering seeing a doctor".
_JOB = rf"(?:(?:an?|the|your|another) (?P<v>(?:[\w+#./-]+ ){{0,4}}?(?:{JOBS}))|(?P<w>(?:(?!\w+ing |to |an? |the )[\w+#./-]+ ){{0,2}}?(?:{JOBS})))"
_AM_JOB = re.compile(
    rf"^i (?:am|work as|have been|am working as|am employed as|serve as|became|am now) (?:currently )?(?!not )(?!no ){_JOB}(?: (?:at|in|for|from|by|with|and|here|now)\b(?P<at>.*))?$",
    _I,
)
_JOB_IS = re.compile(
    rf"^my (?:current |day )?(?:job|occupation|profession|work) is (?:(?:an? |being an? |as an? )(?P<v>[\w /-]{{3,40}})|(?P<w>(?:[\w-]+ ){{0,2}}(?:{JOBS})|teaching|nursing|sales|marketing|accounting|programming|driving))$",
    _I,
)
_WORK_AS = re.compile(
    r"^i (?:work|am working|am employed|make a living|earn a living) as (?:an? |the )?(?P<v>[\w /-]{3,40}?)(?: (?:at|in|for|with)\b(?P<at>.*))?$",
    _I,
)
_WORKS = re.compile(
    r"^i (?:work|am working|am employed|am interning|intern) (?P<p>at|for|in|with|by) (?:the (?=(?-i:[A-Z]))|an? )?(?P<v>[\w&.' /-]{2,40})$",
    _I,
)
_IN_FIELD = re.compile(
    r"^i am (?P<w>retired|unemployed|self-employed|between jobs)$|^i am in (?P<v>sales|it|marketing|finance|tech|education|healthcare|real estate|hr|banking|insurance|consulting|advertising)$",
    _I,
)
_TEACH = re.compile(r"^i (?:teach) (?P<v>[\w ]{3,30}?)(?: (?:at|in|to)\b.*)?$", _I)
_STUDY = re.compile(
    r"^i (?:am )?(?:study|studying|major in|majoring in|am majoring in|am pursuing) (?:an? (?:degree|master's|phd) in )?(?P<v>[\w &-]{3,40}?)(?: at (?P<at>(?:the )?[\w .'&-]{2,40}))?$",
    _I,
)
_MAJOR_IS = re.compile(r"^my major is (?P<v>[\w &-]{3,40})$", _I)
_SCHOOL = re.compile(
    r"^i (?:go to|attend|am attending|graduated from|study at|am studying at|am at|went to) (?P<v>(?:the )?[\w .'&-]*?(?:University|College|School|Institute|Academy|MIT|Stanford|Harvard|Yale|Oxford|Cambridge|UCLA|Berkeley)(?: of [\w ]+)?)(?: (?:in|last|and)\b.*)?$",
    _I,
)
_PLACE = r"(?P<v>(?:the )?(?-i:[A-Z\u3400-\u9fff])[\w.' \u3400-\u9fff-]{1,40}?|[a-z]{4,20})(?: (?:with|now|since|for|right|these|and|near|because|at)\b.*)?"
_LIVES = re.compile(
    rf"^i (?:live|reside|am living|am based|am located|have been living|have lived|have moved|moved|have relocated|relocated|am settled|am staying) (?:\w+ )?(?:in|to|at) {_PLACE}$",
    _I,
)
_FROM = re.compile(
    rf"^(?:i am|i come|i hail) from {_PLACE}$|^my hometown is (?P<w>[\w.' \u3400-\u9fff-]{{2,40}})$|^i (?:grew up|was raised) in (?P<x>(?-i:[A-Z])[\w.' -]{{1,40}})$",
    _I,
)
_NOT_A_PLACE = re.compile(
    r"^(?:a|an|my|the (?:city|countryside|suburbs|moment|past|same|middle)|here|there|fear|peace|work|school|home|hotel|town|bed|this|that|denial|pain|your|harmony|tears|bad|good|heaven)\b",
    _I,
)
_LANGUAGE = re.compile(r"^my (?:native language|mother tongue|first language) is (?P<v>\w+)$", _I)


def find(said: Said) -> Iterator[Found]:
    """Find what the user says of who they are."""
    yield from _names(said)
    yield from _birthday(said)
    if said.subject is not Subject.USER or said.is_past:
        return
    for rule in (_age, _work, _study, _place):
        yield from rule(said)


def _found(key: str, value: str, said: Said, confidence: float = SURE) -> Found:
    return Found(f"basic_info.{key}", value, said.content, confidence=confidence)


def _names(said: Said) -> Iterator[Found]:
    text = said.text
    if re.search(r"\bnot\b|\bnever\b|\bdo not\b", text, _I):
        return
    named = _NAMED.match(text) or _NAME_LABEL.match(text)
    called = _GO_BY.match(text)
    nick = _NICKNAME.match(text)
    found = named or nick or called
    if found:
        name = found["v"].strip()
        if _NOT_A_NAME.match(name) or (
            called and "prefer " in text.lower() and not name[:1].isupper()
        ):
            return
        if called and re.match(r"i prefer \w+$", text, _I):
            return
        yield _found(_name_key(named, called), name, said)
        return
    plain = _I_AM_NAME.match(text)
    if plain and not _NOT_A_PERSON.match(plain["v"]) and not _NOT_A_NAME.search(plain["v"]):
        yield _found("name", plain["v"], said, LIKELY)


def _name_key(named: re.Match[str] | None, called: re.Match[str] | None) -> str:
    if called:
        return "address"
    kind = (named["w"] or "").lower().strip() if named and named.re is _NAMED else ""
    if named is None or kind == "nick":
        return "nickname"
    return {"english": "english_name", "pen": "pen_name"}.get(kind, "name")


def _birthday(said: Said) -> Iterator[Found]:
    text = said.text
    if not _BIRTHDAY.match(text) or re.search(r"\bnot\b|party|cake|gift|present", text, _I):
        return
    day = dates.calendar_date(text, said.now.date())
    mention = None if day or "born" in text else dates.find(text, said.now)
    if day or (mention and mention.span.is_day):
        value = str(day) if day else mention.span.start.strftime("%m-%d") if mention else ""
        attributes = {"date": value, "event_type": "birthday", "recurrence": "yearly"}
        yield Found("basic_info.birthday", value, said.content, attributes=attributes)
        return
    year = _BORN_YEAR.match(text)
    if year:
        yield _found("birth_year", year["y"], said)


def _age(said: Said) -> Iterator[Found]:
    found = _AGE.match(said.text)
    if found and 3 <= en_number(found["n"]) <= 120:
        yield _found("age", str(en_number(found["n"])), said)


def _work(said: Said) -> Iterator[Found]:
    text = said.text
    teach = _TEACH.match(text)
    if teach and not re.match(r"(?:you|him|her|them|my|me)\b", teach["v"], _I):
        yield _found("job", f"teach {teach['v']}", said)
        return
    found = (
        _AM_JOB.match(text) or _WORK_AS.match(text) or _JOB_IS.match(text) or _IN_FIELD.match(text)
    )
    if found:
        named = next(value for value in (found.groupdict().get(part) for part in "vw") if value)
        value = re.sub(r"^(?:an?|the) ", "", tidy(named), flags=_I)
        if re.search(
            r"\bnot\b|\bno\b|\bbad\b|\bgood\b|\bterrible\b|boring|hard|stressful|killing|going|great|fan of|like an?",
            value,
            _I,
        ):
            return
        yield _found("job", value, said)
        if "at" in found.re.groupindex and found["at"]:
            yield from _at(found[0], said)
        return
    yield from _at(text, said)


def _at(text: str, said: Said) -> Iterator[Found]:
    """Where the user works, or learns."""
    place = re.search(r"\bat (?:the |an? )?(?P<v>(?-i:[A-Z])[\w&.' -]{1,40})$", text, _I)
    works = _WORKS.match(text)
    value = tidy(works["v"] if works else place["v"] if place else "")
    if not value or re.match(
        r"(?:home|night|the|least|all|it|this|that|my|a|progress)\b", value, _I
    ):
        return
    if works is None and not re.match(r"i (?:am|work)", text, _I):
        return
    school = re.search(r"student|study|undergrad|freshman|sophomore", text, _I)
    if works or school or re.search(JOBS, text, _I):
        # "in marketing" is a trade, "in Berlin" a place.
        trade = works is not None and works["p"].lower() == "in" and value.islower()
        yield _found("school" if school else "job" if trade else "workplace", value, said)


def _study(said: Said) -> Iterator[Found]:
    school = _SCHOOL.match(said.text)
    if school:
        yield _found("school", tidy(school["v"]), said)
        return
    major = _STUDY.match(said.text) or _MAJOR_IS.match(said.text)
    if major and not re.match(
        r"(?:for|hard|with|the|a|at|in|every|abroad|my|this|that|well|fine|good|great|ok|it)\b",
        major["v"],
        _I,
    ):
        yield _found("major", tidy(major["v"]), said)
        if "at" in major.re.groupindex and major["at"]:
            yield _found("school", tidy(major["at"]), said)


def _place(said: Said) -> Iterator[Found]:
    came = _FROM.match(said.text) or _BORN_PLACE.match(said.text)
    if came:
        value = tidy(next(value for value in came.groupdict().values() if value))
        if not _NOT_A_PLACE.match(value) and not re.match(
            r"(?:january|february|march|april|may|june|july|august|september|october|november|december)\b",
            value,
            _I,
        ):
            yield _found("hometown", value, said)
        return
    lives = _LIVES.match(said.text)
    if lives and not said.is_passing and not _NOT_A_PLACE.match(lives["v"]):
        yield _found("place", _no_date(tidy(lives["v"])), said)
    native = _LANGUAGE.match(said.text)
    if native:
        yield _found("native_language", native["v"], said)


def _no_date(value: str) -> str:
    return re.sub(
        r" (?:last|this|next|in|two|three|a few|\d+) .*$| (?:yesterday|recently)$",
        "",
        value,
        flags=_I,
    )

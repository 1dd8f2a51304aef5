"""What holds for every text, whatever is in it."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from plastic_memories.adapters.sensitive.policy import redact, strict
from plastic_memories.language.text.chinese_variants import to_rule_chinese
from plastic_memories.language.text.scripts import to_simplified
from plastic_memories.language.text.token_count import estimate_tokens
from plastic_memories.language.text.tokens import (
    MAX_QUERY_TERMS,
    MAX_TERM_CHARS,
    index_terms,
    normalise,
    query_terms,
)
from plastic_memories.rules.privacy.sensitive_spans import find_credentials, find_sensitive

# Pieces that the rules look for, so that generated texts come near their borders.
WORDS = (
    "喜歡|甚麼|甚|么|烏龍|薴|關係|係|著|"
    "我|喜欢|什么|茶|的|了解|tea|Anna's|café|e\u0301|👍🏽|🇨🇳|\u200b|密码|是|：|:|=| |\n|，|.|-"
    "|password|token|is|hunter2|sk-|[credential]|护照号|E1234567|pin|4821|@|example.com|+1|://|「"
    "|4111 1111 1111 1111|11010519491231002X|13800138000|验证码|eyJ|a1B2c3D4a1B2c3D4a1B2c3D4"
)
PIECES = st.sampled_from(WORDS.split("|"))
TEXTS = st.one_of(
    st.text(max_size=60),
    st.lists(st.one_of(PIECES, st.text(max_size=3)), max_size=12).map("".join),
    st.text(st.characters(codec="utf-8", categories=("L", "M", "N", "S", "C")), max_size=40),
)
PLAIN = st.one_of(
    st.text(st.characters(codec="ascii"), max_size=60),
    st.lists(st.sampled_from(("Anna's", "don't", "'d've", "a_b", "'", "X1", " "))).map("".join),
)


@dataclass(frozen=True)
class Context:
    refuse_contact: bool = True


def is_safe(char: str) -> bool:
    if char.isascii():
        return char.isalnum() and not char.isupper()
    # Cn: assigned by a newer Unicode than this Python's, inside a block of letters or emoji.
    return char.isalnum() or unicodedata.category(char) in ("So", "Sm", "Cn")


@given(TEXTS)
def test_terms_hold_nothing_a_search_could_read_as_syntax(text: str) -> None:
    terms = index_terms(text) + query_terms(text)

    assert all(0 < len(term) <= MAX_TERM_CHARS for term in terms)
    assert all(is_safe(char) for term in terms for char in term)


@given(TEXTS)
def test_a_text_is_found_by_itself(text: str) -> None:
    assert set(query_terms(text)) <= set(index_terms(text))


@given(TEXTS)
def test_whatever_is_indexed_can_be_asked_for(text: str) -> None:
    assert bool(query_terms(text)) == bool(index_terms(text))


@given(TEXTS)
def test_every_character_is_read_in_its_place_and_once(text: str) -> None:
    for read in (to_simplified, to_rule_chinese):
        plain = read(text)

        assert len(plain) == len(text)
        assert read(plain) == plain


def test_no_character_is_read_as_one_that_is_read_as_another() -> None:
    everything = "".join(map(chr, range(0x20000)))

    plain = to_simplified(everything)

    assert len(plain) == len(everything)
    assert to_simplified(plain) == plain


@given(TEXTS)
def test_both_scripts_have_the_same_terms(text: str) -> None:
    assert index_terms(to_simplified(text)) == index_terms(text)
    assert query_terms(to_simplified(text)) == query_terms(text)


@given(PLAIN)
def test_plain_text_is_left_alone(text: str) -> None:
    assert to_simplified(text) is text


@given(st.text(max_size=2000))
def test_a_query_is_short_and_says_nothing_twice(text: str) -> None:
    terms = query_terms(text)

    assert len(terms) == len(set(terms)) <= MAX_QUERY_TERMS


@given(TEXTS)
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(PLAIN)
def test_plain_text_has_the_same_words_beside_other_scripts(text: str) -> None:
    assert index_terms(f"{text} 茶") == [*index_terms(text), "茶"]


@given(TEXTS)
def test_spacing_around_a_text_does_not_matter(text: str) -> None:
    assert index_terms(f"  {text}\n") == index_terms(text)


@given(TEXTS)
def test_findings_lie_in_the_text_in_order(text: str) -> None:
    borders = [
        border for finding in find_sensitive(text) for border in (finding.start, finding.end)
    ]

    assert borders == sorted(borders)
    assert all(0 <= border <= len(text) for border in borders)
    assert all(finding.start < finding.end for finding in find_sensitive(text))


@given(TEXTS)
def test_a_credential_of_an_id_is_one_in_a_text(text: str) -> None:
    assert not find_credentials(text) or find_sensitive(text)


@given(TEXTS)
def test_masked_text_holds_nothing_to_mask(text: str) -> None:
    policy = redact(Context())

    masked = policy.mask(text)

    assert policy.mask(masked) == masked
    assert strict(Context()).screen(masked).refused_category == ""


@given(TEXTS, TEXTS)
def test_text_costs_at_least_one_token(first: str, second: str) -> None:
    assert (estimate_tokens(first) > 0) == bool(first)
    assert estimate_tokens(f"{first}\n{second}") >= max(map(estimate_tokens, (first, second)))

"""How text becomes search terms."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from plastic_memories.language.text.bounded_cache import bounded_cache
from plastic_memories.language.text.tokens import (
    MAX_QUERY_TERMS,
    MAX_TERM_CHARS,
    index_terms,
    is_question,
    normalise,
    query_terms,
    term_codes,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("  Hello \n World ", "hello world"),
        ("ＨＥＬＬＯ　世界", "hello 世界"),
        ("Straße", "strasse"),
        ("zero\u200bwidth", "zerowidth"),
        ("e\u0301te\u0301", "été"),
    ],
)
def test_texts_that_mean_the_same_compare_equal(text: str, expected: str) -> None:
    assert normalise(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("茶", ["茶"]),
        ("我喝茶", ["我", "我喝", "喝", "喝茶", "茶"]),
        ("Running runs", ["run", "run"]),
        ("Anna's café, don't!", ["anna", "cafe", "don"]),
        ("Anna’s", ["anna"]),
        ("source_app=web", ["sourc", "app", "web"]),
        ("喝tea吗", ["喝", "tea", "吗"]),
        ("привет, мир", ["привет", "мир"]),
        ("ｶﾞｷﾞ", ["ガ", "ガギ", "ギ"]),
        ("हिन्दी", ["हनद"]),
        ("👍🏽 🇨🇳 ❤️", ["👍", "🇨🇳", "❤"]),
        ("\x00\"'%_*-()", []),
        ("𠮷野家", ["𠮷", "𠮷野", "野", "野家", "家"]),
    ],
)
def test_text_is_indexed_under_its_terms(text: str, expected: list[str]) -> None:
    assert index_terms(text) == expected


@pytest.mark.parametrize(
    ("query", "memory"),
    [
        ("茶", "我喜欢喝茶"),
        ("海鲜", "我对海鲜过敏"),
        ("what tea?", "The user likes jasmine teas"),
        ("我喜欢什么茶", "爱喝茉莉花茶"),
        ("我的猫叫什么", "有一只猫"),
        ("Cafe", "常去那家 Café"),
        ("ｔｅａ", "tea"),
        ("弹吉他", "会弹吉他"),
    ],
)
def test_a_question_shares_a_term_with_its_answer(query: str, memory: str) -> None:
    assert set(query_terms(query)) & set(index_terms(memory))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", []),
        ("？！", []),
        ("我喜欢喝什么茶？", ["喜欢", "喝", "茶"]),
        ("你还记得我妈妈的电话是多少吗", ["妈妈", "电话"]),
        ("what is my cat's name", ["cat", "name"]),
        ("什么", ["什么"]),
        ("吗", ["吗"]),
        ("who am I", ["who", "am", "i"]),
        ("目的", ["目的"]),
        ("成都 成都", ["成都"]),
    ],
)
def test_function_words_are_asked_only_if_nothing_else_is(query: str, expected: list[str]) -> None:
    assert query_terms(query) == expected


def test_the_last_line_of_a_long_dialogue_matters_most() -> None:
    talk = "\n".join(f"word{number} topic{number}" for number in range(100)) + "\njasmine"

    terms = query_terms(talk)

    assert len(terms) == MAX_QUERY_TERMS
    assert terms[:2] == ["jasmin", "word99"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("What did I buy?", "I bought a kettle"),
        ("Where did she go", "she went, she has gone"),
        ("any child?", "two children"),
        ("我的 mouse 呢", "mice 两只"),
        ("Who drives?", "He drove; it was driven"),
        ("when does she leave", "she leaves at six"),
        ("where does she live", "she lives here"),
    ],
)
def test_the_forms_of_a_word_meet(asked: str, said: str) -> None:
    assert set(query_terms(asked)) & set(index_terms(said))


def test_a_form_of_a_stop_word_is_one() -> None:
    assert query_terms("who knew of the kettle?") == ["kettl"]


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("去哪儿了？", True),
        ("Really?!", True),
        ("真的？😊」", True),
        ("why? because.", False),
        ("问号 ? 在中间", False),
        ("", False),
    ],
)
def test_a_question_is_told_by_its_end(text: str, asks: bool) -> None:
    assert is_question(text) is asks
    assert len(term_codes([], asks=is_question(text))) == 4 * asks


def test_a_short_dialogue_keeps_its_order() -> None:
    assert query_terms("green tea\nblack cat") == ["green", "tea", "black", "cat"]


def test_a_long_word_is_cut_the_same_everywhere() -> None:
    (indexed,), (asked,) = (f("x1" * 500) for f in (index_terms, query_terms))

    assert indexed == asked
    assert len(indexed) <= MAX_TERM_CHARS


def test_threads_may_stem_at_once() -> None:
    texts = [f"running{n} jumping{n} swimming" for n in range(300)]

    with ThreadPoolExecutor(8) as pool:
        terms = list(pool.map(index_terms, texts))

    assert terms == [index_terms(text) for text in texts]


def test_what_is_kept_is_made_once_and_never_more_than_allowed() -> None:
    made: list[str] = []

    @bounded_cache(max_size=2)
    def size(text: str) -> int:
        made.append(text)
        return len(text)

    assert [size(text) for text in ("茶", "茶", "tea", "茶", "latte", "茶")] == [1, 1, 3, 1, 5, 1]
    assert made == ["茶", "tea", "latte", "茶"]

"""Contract tests for sensitive policies; a plug-in's test class inherits them."""

from __future__ import annotations

import pytest

from plastic_memories.ports.sensitive_policy import SensitivePolicy

HOSTILE_INPUTS = (
    "",
    " ",
    "\x00",
    "\ud800",
    "\u200b" * 50,
    "密码是",
    "password:",
    "token: ",
    "[credential]",
    "4111 1111 1111 1111",
    "４１１１１１１１１１１１１１１１",
    "我的密码是hunter2",
    "-----BEGIN PRIVATE KEY-----",
    "9" * 20_000,
    "1 " * 10_000,
    "password:" * 2_000,
    "eyJ." * 5_000,
    "a" * 20_000 + "@",
)
INNOCENT = (
    "",
    "I love secret gardens",
    "我忘记密码了怎么办",
    "密码学很有趣",
    "我对海鲜过敏",
    "the password was changed yesterday",
    "下周三下午三点在人民广场见面",
)
IDS = ("", "preference.favorite_food", "1234567890123456789", "chat:2024-05-01#42", "会话一")


class SensitivePolicyContract:
    """Inherit it and provide a policy: `class TestMine(SensitivePolicyContract)`."""

    @pytest.fixture
    def policy(self) -> SensitivePolicy:
        raise NotImplementedError("Override this fixture with the policy under test.")

    @pytest.mark.parametrize("text", HOSTILE_INPUTS, ids=range(len(HOSTILE_INPUTS)))
    def test_no_text_makes_it_fail(self, policy: SensitivePolicy, text: str) -> None:
        policy.screen(text)
        policy.screen_id(text)
        policy.mask(text)

    @pytest.mark.parametrize("text", INNOCENT)
    def test_innocent_text_passes_unchanged(self, policy: SensitivePolicy, text: str) -> None:
        screened = policy.screen(text)

        assert (screened.text, screened.refused_category, screened.masked_categories) == (
            text,
            "",
            (),
        )
        assert policy.mask(text) == text

    @pytest.mark.parametrize("text", IDS)
    def test_an_ordinary_id_passes_unchanged(self, policy: SensitivePolicy, text: str) -> None:
        screened = policy.screen_id(text)

        assert (screened.text, screened.refused_category) == (text, "")

    @pytest.mark.parametrize("text", HOSTILE_INPUTS, ids=range(len(HOSTILE_INPUTS)))
    def test_masking_twice_is_masking_once(self, policy: SensitivePolicy, text: str) -> None:
        masked = policy.mask(text)

        assert policy.mask(masked) == masked

    @pytest.mark.parametrize("text", HOSTILE_INPUTS, ids=range(len(HOSTILE_INPUTS)))
    def test_a_refusal_names_a_category_and_not_the_text(
        self, policy: SensitivePolicy, text: str
    ) -> None:
        for screened in (policy.screen(text), policy.screen_id(text)):
            if screened.refused_category:
                assert text not in screened.text
                assert text not in screened.refused_category

    @pytest.mark.parametrize("text", HOSTILE_INPUTS, ids=range(len(HOSTILE_INPUTS)))
    def test_masked_text_is_no_longer_refused(self, policy: SensitivePolicy, text: str) -> None:
        masked = policy.mask(text)

        assert policy.screen(masked).refused_category == ""

    @pytest.mark.parametrize("text", HOSTILE_INPUTS, ids=range(len(HOSTILE_INPUTS)))
    def test_a_text_is_changed_only_under_a_category(
        self, policy: SensitivePolicy, text: str
    ) -> None:
        screened = policy.screen(text)

        assert screened.text == text or screened.refused_category or screened.masked_categories

    @pytest.mark.parametrize("text", HOSTILE_INPUTS, ids=range(len(HOSTILE_INPUTS)))
    def test_the_same_text_is_judged_the_same(self, policy: SensitivePolicy, text: str) -> None:
        assert policy.screen(text) == policy.screen(text)

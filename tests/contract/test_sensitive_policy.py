"""The built-in sensitive policies keep the published contract."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from plastic_memories.adapters.sensitive.policy import off, redact, strict
from plastic_memories.ports.sensitive_policy import SensitivePolicy
from plastic_memories.testing.sensitive_policy_contract import SensitivePolicyContract

SECRET = "我的密码是hunter2，卡号4111111111111111"
MASKED = "我的密码是[credential]，卡号[payment]"
PHONE = "妈妈的电话13800138000"
KEY = "sk-" + "a1B2" * 8


@dataclass(frozen=True)
class Context:
    refuse_contact: bool = False


class TestStrict(SensitivePolicyContract):
    @pytest.fixture
    def policy(self) -> SensitivePolicy:
        return strict(Context())

    def test_a_secret_is_refused_by_category(self, policy: SensitivePolicy) -> None:
        screened = policy.screen(SECRET)

        assert (screened.text, screened.refused_category) == ("", "credential")

    def test_a_message_is_masked(self, policy: SensitivePolicy) -> None:
        assert policy.mask(SECRET) == MASKED

    def test_contact_data_is_kept(self, policy: SensitivePolicy) -> None:
        assert policy.screen(PHONE).text == PHONE
        assert policy.mask(PHONE) == PHONE

    def test_a_key_is_refused_as_an_id(self, policy: SensitivePolicy) -> None:
        assert policy.screen_id(KEY).refused_category == "credential"

    def test_a_number_is_no_card_as_an_id(self, policy: SensitivePolicy) -> None:
        assert policy.screen_id("4111111111111111").refused_category == ""


class TestStrictWithContact(SensitivePolicyContract):
    @pytest.fixture
    def policy(self) -> SensitivePolicy:
        return strict(Context(refuse_contact=True))

    def test_contact_data_is_refused(self, policy: SensitivePolicy) -> None:
        assert policy.screen(PHONE).refused_category == "contact"
        assert policy.mask(PHONE) == "妈妈的电话[contact]"


class TestRedact(SensitivePolicyContract):
    @pytest.fixture
    def policy(self) -> SensitivePolicy:
        return redact(Context())

    def test_a_secret_is_masked_and_the_rest_kept(self, policy: SensitivePolicy) -> None:
        screened = policy.screen(SECRET)

        assert (screened.text, screened.refused_category) == (MASKED, "")
        assert screened.masked_categories == ("credential", "payment")
        assert policy.mask(SECRET) == MASKED

    def test_a_government_id_is_masked(self, policy: SensitivePolicy) -> None:
        assert policy.mask("身份证11010519491231002X。") == "身份证[gov_id]。"

    def test_a_key_is_refused_as_an_id(self, policy: SensitivePolicy) -> None:
        assert policy.screen_id(KEY).refused_category == "credential"


class TestOff(SensitivePolicyContract):
    @pytest.fixture
    def policy(self) -> SensitivePolicy:
        return off(Context())

    @pytest.mark.parametrize("text", [SECRET, PHONE, KEY])
    def test_everything_passes(self, policy: SensitivePolicy, text: str) -> None:
        assert policy.screen(text).text == text
        assert policy.screen_id(text).text == text
        assert policy.mask(text) == text

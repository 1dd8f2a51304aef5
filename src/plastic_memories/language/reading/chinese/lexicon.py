"""Chinese jobs, places and traits as expressions."""

from __future__ import annotations

from plastic_memories.language.text.word_lists import any_of

JOB = (
    rf"(?!{any_of('lexicon', 'zh_not_job')}$)"
    rf"(?:[\u4e00-\u9fffA-Za-z+#/ ]{{0,12}}?{any_of('lexicon', 'zh_job')}|"
    rf"[\u4e00-\u9fff]{{1,8}}(?:师|员))"
)
PLACE = rf"{any_of('lexicon', 'zh_place')}(?:[省市区县]|自治区)?"
TRAIT = any_of("lexicon", "zh_trait")

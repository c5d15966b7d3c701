"""Choice of the model, the thinking option, and levels of notices."""

import pytest

from condense_grpc.summarize.model_choice import (
    Model,
    ModelChoice,
    Notice,
    NoticeCode,
    NoticeLevel,
    ReasoningEffort,
    choose_model,
    reasoning_effort,
)

SESSION = Model("p", "main", "Main")
NESTED = Model("router", "vendor/small")


def find(provider: str, model_id: str) -> Model | None:
    return NESTED if (provider, model_id) == ("router", "vendor/small") else None


def test_default_is_the_model_of_the_session() -> None:
    """Without a notice, and also when there is none."""
    assert choose_model("default", SESSION, find) == ModelChoice(SESSION)
    assert choose_model("default", None, find) == ModelChoice(None)


def test_the_first_slash_divides_provider_and_id() -> None:
    """Ids may contain slashes."""
    assert choose_model("router/vendor/small", SESSION, find) == ModelChoice(NESTED)


@pytest.mark.parametrize("setting", ["small", "", "Default"])
def test_a_setting_without_slash_is_invalid(setting: str) -> None:
    """The session's model steps in, and a notice names the setting."""
    assert choose_model(setting, SESSION, find) == ModelChoice(SESSION, Notice(NoticeCode.MODEL_INVALID, (setting,)))


@pytest.mark.parametrize("setting", ["router/small", "/", "/vendor/small", "router/"])
def test_an_unknown_model_is_missing(setting: str) -> None:
    """The session's model steps in, and a notice names the setting."""
    assert choose_model(setting, SESSION, find) == ModelChoice(SESSION, Notice(NoticeCode.MODEL_MISSING, (setting,)))


@pytest.mark.parametrize(
    ("setting", "effort"),
    [("default", None), ("off", ReasoningEffort(None)), ("minimal", ReasoningEffort("minimal"))],
)
def test_thinking(setting: str, effort: ReasoningEffort | None) -> None:
    """Three cases: no option, the option without value, the level."""
    assert reasoning_effort(setting) == effort


def test_levels() -> None:
    """Only a failure is an error: with a timeout the work goes on later."""
    levels = {code: Notice(code).level for code in NoticeCode}
    assert levels.pop(NoticeCode.LLM_FAILED) is NoticeLevel.ERROR
    assert levels.pop(NoticeCode.FALLBACK_RECOVER) is NoticeLevel.INFO
    assert set(levels.values()) == {NoticeLevel.WARNING}

"""Which model writes the summaries of a session, with how much thinking, and what people are told about it.

A setting that names no usable model never stops the work: the session's own model steps in, and a notice says so.
Notices are for people and for logs. Nothing is decided by them, and they never carry content of a session.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import TypeAlias

from condense_grpc.domain.frozen import frozen

DEFAULT = "default"
_NO_THINKING = "off"


@frozen
class Model:
    """A model of a provider. `name` is for people; two models are the same if provider and id are."""

    provider: str
    model_id: str
    name: str = ""

    @property
    def label(self) -> str:
        """What people are shown: the name, or `provider/id`."""
        return self.name or f"{self.provider}/{self.model_id}"


FindModel: TypeAlias = Callable[[str, str], Model | None]
"""The registry of models: looks one up by provider and id."""


@frozen
class ReasoningEffort:
    """The effort option of a request. `level` None: the option is sent without a value, which asks for no thinking."""

    level: str | None


class NoticeCode(StrEnum):
    """What a notice is about. The arguments are named behind each."""

    MODEL_INVALID = "model-invalid"  # the setting
    MODEL_MISSING = "model-missing"  # the setting
    LLM_FAILED = "llm-failed"  # none
    LLM_TIMEOUT = "llm-timeout"  # none
    FALLBACK_ENTER = "fallback-enter"  # label of the chosen model, label of the session's model
    FALLBACK_RECOVER = "fallback-recover"  # label of the chosen model


class NoticeLevel(StrEnum):
    """How much a notice matters."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


_TEXTS = {
    NoticeCode.MODEL_INVALID: "{} is not a name of a model; the fallback writes the summaries",
    NoticeCode.MODEL_MISSING: "{} is not available any more; the fallback writes the summaries",
    NoticeCode.LLM_FAILED: "a summary failed",
    NoticeCode.LLM_TIMEOUT: "a summary took too long",
    NoticeCode.FALLBACK_ENTER: "{} does not answer as it should; {} writes the summaries until it does",
    NoticeCode.FALLBACK_RECOVER: "{} is back and writes the summaries again",
}
_LEVELS = {NoticeCode.LLM_FAILED: NoticeLevel.ERROR, NoticeCode.FALLBACK_RECOVER: NoticeLevel.INFO}


@frozen
class Notice:
    """One thing that people should know about the work of a summarizer."""

    code: NoticeCode
    args: tuple[str, ...] = ()

    @property
    def level(self) -> NoticeLevel:
        """How much it matters; given by the code."""
        return _LEVELS.get(self.code, NoticeLevel.WARNING)

    @property
    def text(self) -> str:
        """The sentence for people."""
        return _TEXTS[self.code].format(*self.args)


@frozen
class ModelChoice:
    """The model that a setting leads to (None: there is none at all), and what was wrong with the setting."""

    model: Model | None
    notice: Notice | None = None


def choose_model(setting: str, session_model: Model | None, find_model: FindModel) -> ModelChoice:
    """The model of a setting `default` or `provider/id`; ids may contain slashes, providers may not.

    The session's model stands in, with a notice, for a setting without slash and for a model that nobody knows.
    """
    if setting == DEFAULT:
        return ModelChoice(session_model)
    provider, slash, model_id = setting.partition("/")
    if not slash:
        return ModelChoice(session_model, Notice(NoticeCode.MODEL_INVALID, (setting,)))
    model = find_model(provider, model_id)
    if model is None:
        return ModelChoice(session_model, Notice(NoticeCode.MODEL_MISSING, (setting,)))
    return ModelChoice(model)


def reasoning_effort(setting: str) -> ReasoningEffort | None:
    """The effort option of a thinking setting; None: the option is not sent, the provider decides."""
    if setting == DEFAULT:
        return None
    return ReasoningEffort(None if setting == _NO_THINKING else setting)

"""The summarizer of a server: models and the built-in one behind one port, each session with the one that it chose."""

from collections.abc import AsyncIterator
from dataclasses import replace

from condense_grpc.domain.config import SessionConfig
from condense_grpc.domain.frozen import frozen
from condense_grpc.engine.ports import (
    FuseRequest,
    SummarizerHealth,
    SummaryAttempt,
    SummaryEvent,
    SummaryNotice,
    SummaryRequest,
)
from condense_grpc.summarize.extractive import ExtractiveSummarizer
from condense_grpc.summarize.model_choice import DEFAULT, FindModel, Model
from condense_grpc.summarize.model_summarizer import ModelSetup, ModelSummarizer
from condense_grpc.summarize.providers.names import EXTRACTIVE, parse_name


@frozen
class Choice:
    """Who may write: the server's own model (None: the built-in summarizer does), its stand-in, and what is offered.

    A session that chooses a model falls back on the stand-in, or without one on the server's own model.
    """

    own: Model | None
    stand_in: Model | None
    find_model: FindModel

    def setup_of(self, request: SummaryRequest | FuseRequest) -> ModelSetup:
        """What the settings of a session mean here."""
        model = self._asked(request.config)
        fallback = self.stand_in or self.own
        # A name that is not offered any more has no slash: the choice of the model tells of it.
        setting = f"{model.provider}/{model.model_id}" if model else request.config.summarizer_model
        return ModelSetup(_with_model(request.config, setting), fallback)

    def wants_model(self, config: SessionConfig) -> bool:
        """Whether a model writes for a session with these settings."""
        if config.summarizer_model == DEFAULT:
            return self.own is not None
        if config.summarizer_model == EXTRACTIVE:
            return False
        return self.is_known(config) or bool(self.stand_in or self.own)

    def is_known(self, config: SessionConfig) -> bool:
        """Whether the settings name something that there is."""
        if config.summarizer_model in (DEFAULT, EXTRACTIVE):
            return True
        model = parse_name(config.summarizer_model)
        return model is not None and self.find_model(model.provider, model.model_id) is not None

    def _asked(self, config: SessionConfig) -> Model | None:
        return self.own if config.summarizer_model == DEFAULT else parse_name(config.summarizer_model)


class ConfiguredSummarizer:
    """The Summarizer that a server works with when it offers models. Safe to use from many tasks."""

    def __init__(self, models: ModelSummarizer, choice: Choice) -> None:
        self._models = models
        self._built_in = ExtractiveSummarizer()
        self._choice = choice

    @property
    def name(self) -> str:
        """The server's own summarizer."""
        return self._choice.own.label if self._choice.own else EXTRACTIVE

    @property
    def can_fuse(self) -> bool:
        """Whether it can for some sessions; for others fusing fails as a value."""
        return True

    def summarize(self, request: SummaryRequest) -> AsyncIterator[SummaryEvent]:
        """See Summarizer."""
        if self._choice.wants_model(request.config):
            return self._models.summarize(request)
        return self._built_in_summary(request)

    def fuse(self, request: FuseRequest) -> AsyncIterator[SummaryEvent]:
        """See Summarizer."""
        if self._choice.wants_model(request.config):
            return self._models.fuse(request)
        return self._built_in.fuse(request)

    def health(self, session_id: str, config: SessionConfig) -> SummarizerHealth:
        """See KeepsOutages."""
        if self._choice.wants_model(config):
            return self._models.health(session_id, config)
        return SummarizerHealth(EXTRACTIVE)

    def forget(self, session_id: str) -> None:
        """See KeepsOutages."""
        self._models.forget(session_id)

    async def _built_in_summary(self, request: SummaryRequest) -> AsyncIterator[SummaryEvent]:
        if not self._choice.is_known(request.config):
            asked = request.config.summarizer_model
            yield SummaryNotice("warning", f"{asked} is not available any more; the built-in summarizer stands in")
        yield SummaryAttempt(EXTRACTIVE)
        async for event in self._built_in.summarize(request):
            yield event


def _with_model(config: SessionConfig, setting: str) -> SessionConfig:
    return replace(config, summarizer_model=setting)

"""Builds the summarizer that a server's settings ask for. Imports clients of providers only if there are models.

Whatever is wrong is said here, before the server listens: a name, a key, a price, a pattern, a missing package.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from importlib.util import find_spec
from pathlib import Path

from condense_grpc.domain.frozen import frozen
from condense_grpc.engine.ports import Clock, Summarizer
from condense_grpc.errors import SummarizerUnknown
from condense_grpc.settings import ServerSettings, SettingsInvalid
from condense_grpc.summarize.extractive import ExtractiveSummarizer
from condense_grpc.summarize.model_choice import Model, Notice
from condense_grpc.summarize.prompts import built_in_prompts, read_prompts
from condense_grpc.summarize.providers.access import Access
from condense_grpc.summarize.providers.names import ANY, EXTRACTIVE, Offer, get_model, parse_name
from condense_grpc.summarize.providers.prices import read_prices
from condense_grpc.summarize.redaction import make_redactor


async def nothing_to_close() -> None:
    """Closes what has nothing open."""


@frozen
class Summaries:
    """The summarizer of a server, the names that sessions can choose, and what to await at the end."""

    summarizer: Summarizer
    offered: tuple[str, ...] = (EXTRACTIVE,)
    close: Callable[[], Awaitable[None]] = nothing_to_close


def set_up(settings: ServerSettings, env: Mapping[str, str], clock: Clock) -> Summaries:
    """What the settings ask for. Raises SettingsInvalid."""
    try:
        return _set_up(settings, env, clock)
    except SummarizerUnknown as error:
        raise SettingsInvalid(error.message) from None


def _set_up(settings: ServerSettings, env: Mapping[str, str], clock: Clock) -> Summaries:
    own = None if settings.summarizer == EXTRACTIVE else get_model("summarizer", settings.summarizer)
    stand_in = get_model("fallback", settings.fallback) if settings.fallback else None
    named = [model.name for model in (own, stand_in) if model]
    offer = Offer.of("summarizer_models", [*named, *settings.summarizer_models])
    if not offer.listed():
        return Summaries(ExtractiveSummarizer())
    if find_spec("pydantic_ai") is None:
        raise SettingsInvalid("models need the extra llm: pip install 'condense-grpc[server,llm]'")
    return _with_models(settings, _Models(own, stand_in, offer), env, clock)


@frozen
class _Models:
    own: Model | None
    stand_in: Model | None
    offer: Offer

    def to_check(self) -> list[Model]:
        """One model of everything that is offered: whole providers stand for themselves."""
        listed = (parse_name(name) for name in self.offer.listed())
        return [model for model in listed if model is not None]


def _with_models(settings: ServerSettings, models: _Models, env: Mapping[str, str], clock: Clock) -> Summaries:
    from condense_grpc.summarize.configured import Choice, ConfiguredSummarizer
    from condense_grpc.summarize.model_summarizer import ModelAccess, ModelSummarizer
    from condense_grpc.summarize.providers.client import ClientOptions, ProviderClient
    from condense_grpc.summarize.providers.connection import http_client
    from condense_grpc.summarize.providers.opening import ModelOpener
    from condense_grpc.summarize.providers.warming import warm_up
    from condense_grpc.summarize.request_text import Writer
    from condense_grpc.summarize.retrying import RetryPolicy
    from condense_grpc.summarize.review import review

    options = ClientOptions(settings.summarizer_output_tokens, read_prices(settings.summarizer_prices))
    redactor = make_redactor(
        shapes=settings.redact, patterns=settings.redact_patterns, function=settings.redact_function
    )
    folder = settings.summarizer_prompts
    prompts = read_prompts(Path(folder)) if folder else built_in_prompts()
    _quiet_clients()
    http = http_client()
    opener = ModelOpener(http, env, _access(settings, models))
    for model in models.to_check():
        opener.check(model)
    warm_up(opener, models.to_check())
    choice = Choice(models.own, models.stand_in, models.offer.find_model)
    access = ModelAccess(
        client=ProviderClient(opener, options),
        find_model=models.offer.find_model,
        setup_of=choice.setup_of,
        writer=Writer(prompts, redactor, settings.summarizer_batch_chars),
        review=review,
        retries=RetryPolicy(settings.summarizer_retries),
    )
    name = models.own.label if models.own else EXTRACTIVE
    summarizer = ConfiguredSummarizer(ModelSummarizer(name, access, clock, _log), choice)
    return Summaries(summarizer, (EXTRACTIVE, *models.offer.listed()), http.aclose)


def _access(settings: ServerSettings, models: _Models) -> dict[tuple[str, str], Access]:
    """How models are reached. What is set for one model holds for others of its provider, too."""
    own = Access(settings.summarizer_base_url, settings.summarizer_api_key_env, settings.summarizer_api_key_file)
    stand_in = Access(settings.fallback_base_url, settings.fallback_api_key_env, settings.fallback_api_key_file)
    access: dict[tuple[str, str], Access] = {}
    for model, given in ((models.own, own), (models.stand_in, stand_in)):
        if model is not None and (given != Access() or (model.provider, ANY) not in access):
            access[model.provider, model.model_id] = given
            access.setdefault((model.provider, ANY), given)
    return access


def _quiet_clients() -> None:
    """Clients of providers log every request; failures reach people through events and diagnostics anyway."""
    for name in ("httpx", "httpx2", "openai", "anthropic", "google_genai"):
        logger = logging.getLogger(name)
        logger.setLevel(max(logger.level, logging.WARNING))


def _log(session_id: str, notice: Notice) -> None:
    """Notices reach people through events; failures are logged where they are handled."""

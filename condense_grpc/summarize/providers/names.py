"""The names of models: `provider:model`, for instance `openai-chat:gpt-5-mini` or `ollama:qwen3:8b`.

The first colon or slash separates provider and model; both spellings are the same name. Model ids may contain either.
"""

from collections.abc import Sequence

from condense_grpc.domain.frozen import frozen
from condense_grpc.errors import SummarizerUnknown
from condense_grpc.summarize.model_choice import Model

EXTRACTIVE = "extractive"
ANY = "*"


@frozen
class Provider:
    """A provider that we can speak to. `key_env`: where its key is by custom; empty: it needs none."""

    name: str
    key_env: str
    base_url: str = ""


PROVIDERS = {
    provider.name: provider
    for provider in (
        Provider("openai", "OPENAI_API_KEY"),
        Provider("openai-chat", "OPENAI_API_KEY"),
        Provider("anthropic", "ANTHROPIC_API_KEY"),
        Provider("google", "GOOGLE_API_KEY"),
        Provider("openrouter", "OPENROUTER_API_KEY"),
        Provider("ollama", "", "http://localhost:11434/v1"),
    )
}


def parse_name(name: str) -> Model | None:
    """The model that a name stands for; None if it is not a name of a model of a known provider."""
    ends = [place for place in (name.find(":"), name.find("/")) if place > 0]
    if not ends:
        return None
    provider, model_id = name[: min(ends)], name[min(ends) + 1 :]
    if provider not in PROVIDERS or not model_id.strip() or any(not char.isprintable() for char in model_id):
        return None
    return Model(provider, model_id, f"{provider}:{model_id}")


def get_model(field: str, name: str, available: Sequence[str] = ()) -> Model:
    """The model of a name that must be one. Raises SummarizerUnknown."""
    model = parse_name(name)
    if model is None or model.model_id == ANY:
        raise SummarizerUnknown(field, name, available or (EXTRACTIVE, *(f"{known}:<model>" for known in PROVIDERS)))
    return model


@frozen
class Offer:
    """The models that sessions may name. `models` by provider and id; `providers`: any model of these will do."""

    models: frozenset[tuple[str, str]]
    providers: frozenset[str]

    @classmethod
    def of(cls, field: str, names: Sequence[str]) -> "Offer":
        """The offer of names such as `anthropic:claude-haiku-4-5` or `ollama:*`. Raises SummarizerUnknown."""
        models, providers = set(), set()
        for name in names:
            model = parse_name(name)
            if model is not None and model.model_id == ANY:
                providers.add(model.provider)
            else:
                model = get_model(field, name)
                models.add((model.provider, model.model_id))
        return cls(frozenset(models), frozenset(providers))

    def find_model(self, provider: str, model_id: str) -> Model | None:
        """The model, if it is offered."""
        if provider in self.providers or (provider, model_id) in self.models:
            return parse_name(f"{provider}:{model_id}")
        return None

    def listed(self) -> tuple[str, ...]:
        """The names, as they are shown."""
        wild = (f"{provider}:{ANY}" for provider in sorted(self.providers))
        return (*(f"{provider}:{model_id}" for provider, model_id in sorted(self.models)), *wild)

"""Makes the library's models from our names: one function per family of providers, each importing only its own client.

A provider whose client is not installed, and a key that is missing, are told at the start of a server, not at the
first flush.
"""

from collections.abc import Callable, Mapping
from dataclasses import field
from importlib.util import find_spec

import httpx2
from pydantic_ai.models import Model as LibraryModel

from condense_grpc.domain.frozen import frozen
from condense_grpc.settings import SettingsInvalid
from condense_grpc.summarize.model_choice import Model
from condense_grpc.summarize.providers.access import Access, Credentials, find_credentials
from condense_grpc.summarize.providers.names import ANY

_PACKAGES = {"anthropic": "anthropic", "google": "google.genai"}


def _openai_chat(model_id: str, credentials: Credentials, http: httpx2.AsyncClient) -> LibraryModel:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(base_url=credentials.base_url or None, api_key=credentials.key, http_client=http)
    return OpenAIChatModel(model_id, provider=provider)


def _openai(model_id: str, credentials: Credentials, http: httpx2.AsyncClient) -> LibraryModel:
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(base_url=credentials.base_url or None, api_key=credentials.key, http_client=http)
    return OpenAIResponsesModel(model_id, provider=provider)


def _ollama(model_id: str, credentials: Credentials, http: httpx2.AsyncClient) -> LibraryModel:
    from pydantic_ai.models.ollama import OllamaModel
    from pydantic_ai.providers.ollama import OllamaProvider

    provider = OllamaProvider(base_url=credentials.base_url, api_key=credentials.key, http_client=http)
    return OllamaModel(model_id, provider=provider)


def _openrouter(model_id: str, credentials: Credentials, http: httpx2.AsyncClient) -> LibraryModel:
    from openai import AsyncOpenAI
    from pydantic_ai.models.openrouter import OpenRouterModel
    from pydantic_ai.providers.openrouter import OpenRouterProvider

    if not credentials.base_url:
        return OpenRouterModel(model_id, provider=OpenRouterProvider(api_key=credentials.key, http_client=http))
    client = AsyncOpenAI(base_url=credentials.base_url, api_key=credentials.key, http_client=http)
    return OpenRouterModel(model_id, provider=OpenRouterProvider(openai_client=client))


def _anthropic(model_id: str, credentials: Credentials, http: httpx2.AsyncClient) -> LibraryModel:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    base_url = credentials.base_url or None
    provider = AnthropicProvider(api_key=credentials.key, base_url=base_url, http_client=http)
    return AnthropicModel(model_id, provider=provider)


def _google(model_id: str, credentials: Credentials, http: httpx2.AsyncClient) -> LibraryModel:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    base_url = credentials.base_url or None
    return GoogleModel(model_id, provider=GoogleProvider(api_key=credentials.key, base_url=base_url, http_client=http))


_OPENERS: Mapping[str, Callable[[str, Credentials, httpx2.AsyncClient], LibraryModel]] = {
    "openai": _openai,
    "openai-chat": _openai_chat,
    "ollama": _ollama,
    "openrouter": _openrouter,
    "anthropic": _anthropic,
    "google": _google,
}


@frozen
class ModelOpener:
    """Makes models over one HTTP client. `access` by provider and model id, or `*` for all of a provider.

    `env` is where keys are looked up.
    """

    http: httpx2.AsyncClient
    env: Mapping[str, str] = field(repr=False)
    access: Mapping[tuple[str, str], Access] = field(default_factory=dict)

    def __call__(self, model: Model) -> LibraryModel | None:
        """The library's model; None if its provider has no key."""
        credentials = self._credentials(model)
        return None if credentials is None else _OPENERS[model.provider](model.model_id, credentials, self.http)

    def check(self, model: Model) -> None:
        """Raises SettingsInvalid for a model whose provider's client or key is missing."""
        package = _PACKAGES.get(model.provider, "openai")
        if not _is_installed(package):
            raise SettingsInvalid(f"{model.name}: its client is not installed: pip install 'condense-grpc[llm]'")
        if self._credentials(model) is None:
            raise SettingsInvalid(
                f"{model.name}: there is no key for {model.provider}: set its environment variable, or name a "
                "variable or a file in the settings"
            )

    def _credentials(self, model: Model) -> Credentials | None:
        places = ((model.provider, model.model_id), (model.provider, ANY))
        access = next((self.access[place] for place in places if place in self.access), Access())
        return find_credentials(model.provider, access, self.env)


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False

"""Names of models, keys, prices: what an operator writes, and what is refused."""

from pathlib import Path

import pytest

from condense_grpc.errors import SummarizerUnknown
from condense_grpc.settings import SettingsInvalid
from condense_grpc.summarize.providers.access import NO_KEY, Access, find_credentials
from condense_grpc.summarize.providers.names import PROVIDERS, Offer, get_model, parse_name
from condense_grpc.summarize.providers.prices import Price, read_prices


@pytest.mark.parametrize(
    ("name", "provider", "model_id"),
    [
        ("openai-chat:gpt-5-mini", "openai-chat", "gpt-5-mini"),
        ("anthropic/claude-haiku-4-5", "anthropic", "claude-haiku-4-5"),
        ("openrouter:anthropic/claude-haiku-4.5", "openrouter", "anthropic/claude-haiku-4.5"),
        ("ollama/qwen3:8b", "ollama", "qwen3:8b"),
    ],
)
def test_the_first_separator_counts(name: str, provider: str, model_id: str) -> None:
    """Colon and slash are the same; ids may hold either. People are shown the colon."""
    model = parse_name(name)
    assert model is not None
    assert (model.provider, model.model_id, model.label) == (provider, model_id, f"{provider}:{model_id}")


@pytest.mark.parametrize("name", ["", "gpt-5", "acme:small", "openai:", ":x", "openai: ", "openai:a\nb", "openai:*"])
def test_an_unknown_name_is_refused_with_what_there_is(name: str) -> None:
    """At once, whoever says it."""
    with pytest.raises(SummarizerUnknown) as refusal:
        get_model("summarizer", name)
    assert "extractive" in refusal.value.message
    assert all(provider in refusal.value.message for provider in PROVIDERS)


def test_an_offer_has_models_and_whole_providers() -> None:
    """Sessions can name these and no others."""
    offer = Offer.of("summarizer_models", ["anthropic:claude-haiku-4-5", "ollama:*"])
    assert offer.find_model("anthropic", "claude-haiku-4-5")
    assert offer.find_model("ollama", "anything:7b")
    assert offer.find_model("anthropic", "claude-opus-4-5") is None
    assert offer.listed() == ("anthropic:claude-haiku-4-5", "ollama:*")


def test_keys_come_from_a_file_a_variable_or_the_customary_one(tmp_path: Path) -> None:
    """In this order; and no key is ever shown."""
    file = tmp_path / "key"
    file.write_text("from-file\n")
    env = {"OPENAI_API_KEY": "customary", "MINE": "named"}
    found = [
        find_credentials("openai", access, env)
        for access in (Access(key_file=str(file), key_env="MINE"), Access(key_env="MINE"), Access())
    ]
    assert [one.key for one in found if one] == ["from-file", "named", "customary"]
    assert "customary" not in repr(found)


def test_a_server_of_ones_own_needs_no_key() -> None:
    """A provider does."""
    local = find_credentials("openai-chat", Access("http://localhost:1"), {})
    assert local is not None
    assert local.key == NO_KEY
    assert find_credentials("ollama", Access(), {}) is not None
    assert find_credentials("anthropic", Access(), {}) is None


def test_a_key_that_was_named_must_be_there(tmp_path: Path) -> None:
    """Neither the path nor the content is told."""
    for access in (Access(key_env="NOT_SET"), Access(key_file=str(tmp_path / "none")), Access(key_file=str(tmp_path))):
        with pytest.raises(SettingsInvalid) as refusal:
            find_credentials("openai", access, {})
        assert str(tmp_path) not in str(refusal.value)


def test_prices_of_the_operator() -> None:
    """Dollars per million tokens; 0 is a price."""
    prices = read_prices(["openai-chat:mine=0.5/2", "ollama:qwen3:8b = 0/0"])
    assert prices["openai-chat", "mine"].cost(1_000_000, 500_000) == 1.5
    assert prices["ollama", "qwen3:8b"] == Price(0, 0)
    for wrong in ("openai-chat:mine", "openai-chat:mine=1", "openai-chat:mine=-1/2", "mine=1/2", "openai:m=nan/1"):
        with pytest.raises(SettingsInvalid):
            read_prices([wrong])


def test_the_price_list_holds_for_the_providers_own_address() -> None:
    """It comes with the library; a server of one's own, or a model that nobody knows, has no price."""
    from pydantic_ai.messages import ModelResponse, TextPart
    from pydantic_ai.usage import RequestUsage

    from condense_grpc.summarize.providers.client import listed_cost

    def cost(model: str, url: str) -> float | None:
        usage = RequestUsage(input_tokens=1_000_000, output_tokens=1_000)
        return listed_cost(ModelResponse([TextPart("")], usage=usage, model_name=model, provider_url=url))

    known = cost("claude-haiku-4-5", "https://api.anthropic.com")
    assert known is not None
    assert 0.1 < known < 100
    assert cost("claude-haiku-4-5", "http://127.0.0.1:8000") is None
    assert cost("nobody-knows-this", "https://api.anthropic.com") is None

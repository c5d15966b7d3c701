"""What a server's settings make: who writes, what sessions may choose, and what is refused before it listens."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from condense_grpc.domain.config import SessionConfig
from condense_grpc.engine.ports import FuseRequest
from condense_grpc.settings import SettingsInvalid, load_server_settings
from condense_grpc.summarize.configured import Choice
from condense_grpc.summarize.model_choice import Model
from condense_grpc.summarize.providers.names import Offer, get_model
from condense_grpc.summarize.setup import Summaries, set_up

LOCAL = {"summarizer": "openai-chat:small", "summarizer_base_url": "http://127.0.0.1:1/v1"}


class StillClock:
    def now_ms(self) -> int:
        return 1_760_000_000_000


def made_of(given: dict[str, Any], env: dict[str, str] | None = None) -> Summaries:
    return set_up(load_server_settings(given), env or {}, StillClock())


def test_without_models_nothing_of_them_is_needed() -> None:
    """The default: the built-in summarizer alone."""
    summaries = made_of({})
    assert (summaries.summarizer.name, summaries.offered) == ("extractive", ("extractive",))


async def test_models_are_offered_beside_the_built_in_summarizer() -> None:
    """The server's own, its stand-in, and those that sessions may choose besides."""
    summaries = made_of(
        {**LOCAL, "fallback": "ollama:qwen3", "summarizer_models": ["anthropic:*"]}, {"ANTHROPIC_API_KEY": "k"}
    )
    assert summaries.summarizer.name == "openai-chat:small"
    assert summaries.offered == ("extractive", "ollama:qwen3", "openai-chat:small", "anthropic:*")
    await summaries.close()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"summarizer": "acme:small"}, "choose one of extractive, openai:<model>"),
        ({"summarizer": "gpt-5"}, "gpt-5"),
        ({"fallback": "openai:"}, "fallback"),
        ({"summarizer_models": ["nonsense"]}, "summarizer_models"),
        ({"summarizer": "anthropic:claude-haiku-4-5"}, "there is no key for anthropic"),
        ({**LOCAL, "summarizer_api_key_env": "NOT_SET"}, "NOT_SET"),
        ({**LOCAL, "summarizer_prices": ["free"]}, "summarizer_prices"),
        ({**LOCAL, "redact_patterns": ["("]}, "redact_patterns"),
        ({**LOCAL, "redact_function": "nowhere:at_all"}, "redact_function"),
        ({**LOCAL, "summarizer_prompts": "/nowhere/at/all"}, "summarizer_prompts"),
    ],
)
def test_what_is_wrong_is_said_at_the_start(given: dict[str, Any], says: str) -> None:
    """With the setting and what to do about it."""
    with pytest.raises(SettingsInvalid, match=says):
        made_of(given)


async def test_prompts_of_an_operator(tmp_path: Path) -> None:
    """One file may be enough; instructions that ask for no labels are refused."""
    (tmp_path / "fuse.md").write_text("Fuse.")
    await made_of({**LOCAL, "summarizer_prompts": str(tmp_path)}).close()
    (tmp_path / "batch.md").write_text("Summarize.")
    with pytest.raises(SettingsInvalid, match="labels"):
        made_of({**LOCAL, "summarizer_prompts": str(tmp_path)})


OWN, STAND_IN = get_model("", "openai-chat:small"), get_model("", "ollama:qwen3")
OTHER = get_model("", "anthropic:claude-haiku-4-5")
OFFER = Offer.of("", [OWN.name, STAND_IN.name, OTHER.name])


@pytest.mark.parametrize(
    ("asked", "setting", "fallback"),
    [
        ("default", "openai-chat/small", STAND_IN),
        ("anthropic:claude-haiku-4-5", "anthropic/claude-haiku-4-5", STAND_IN),
        ("anthropic/claude-haiku-4-5", "anthropic/claude-haiku-4-5", STAND_IN),
    ],
)
def test_a_session_gets_what_it_chose_and_the_stand_in_of_the_server(asked: str, setting: str, fallback: Model) -> None:
    """Its own model first, then the server's fallback."""
    choice = Choice(OWN, STAND_IN, OFFER.find_model)
    setup = choice.setup_of(FuseRequest("s", "", replace(SessionConfig(), summarizer_model=asked)))
    assert (setup.config.summarizer_model, setup.session_model) == (setting, fallback)
    assert choice.wants_model(SessionConfig(summarizer_model=asked))


def test_without_a_stand_in_sessions_fall_back_on_the_servers_own_model() -> None:
    """Which is no fallback for those that chose nothing."""
    choice = Choice(OWN, None, OFFER.find_model)
    assert choice.setup_of(FuseRequest("s", "", SessionConfig(summarizer_model=OTHER.name))).session_model == OWN


def test_the_built_in_summarizer_can_be_chosen_and_takes_over_where_no_model_is_left() -> None:
    """Also for a session whose model was taken out of the settings."""
    assert not Choice(OWN, STAND_IN, OFFER.find_model).wants_model(SessionConfig(summarizer_model="extractive"))
    gone = SessionConfig(summarizer_model="openai:gone")
    assert not Choice(None, None, OFFER.find_model).wants_model(gone)
    assert Choice(OWN, None, OFFER.find_model).wants_model(gone)

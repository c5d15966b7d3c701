"""The page about choosing a summarizer says what is true: its settings load, all of them are in it, names are names."""

import re
import subprocess
import sys
from pathlib import Path

from condense_grpc.settings import SERVER_KNOBS, load_server_settings
from condense_grpc.summarize.providers.names import PROVIDERS, parse_name
from condense_grpc.testing.fake_llm import BEHAVIOURS

PAGE = (Path(__file__).parents[2] / "docs" / "choosing-a-summarizer.md").read_text("utf-8")
WORDS = ("summariz", "redact", "fallback")


def test_its_configuration_loads(tmp_path: Path) -> None:
    """Word for word."""
    (toml,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    file = tmp_path / "condense.toml"
    file.write_text(toml)
    settings = load_server_settings({}, {}, file)
    assert settings.session_defaults["summarizer_thinking"] == "low"


def test_every_setting_is_in_it() -> None:
    """And nothing that reads like one and is none."""
    ours = {knob.name for knob in SERVER_KNOBS if knob.name.startswith(WORDS)}
    abbreviated = {"fallback_api_key_file"}
    assert all(name in PAGE for name in ours - abbreviated)


def test_every_provider_is_in_it_and_every_name_is_one() -> None:
    """Names as people copy them."""
    named = [parse_name(name) for name in re.findall(r'(?:summarizer|fallback) = "([a-z-]+:[^"]*)"', PAGE)]
    assert {model.provider for model in named if model} == set(PROVIDERS)
    assert None not in named
    assert all(provider.key_env in PAGE for provider in PROVIDERS.values())


def test_its_behaviours_exist_and_its_command_runs() -> None:
    """The fake prints its address first."""
    assert set(re.findall(r"`(slow|silent|cut|rate-limited|flapping)`", PAGE)) <= set(BEHAVIOURS)
    command = [sys.executable, "-m", "condense_grpc.testing.fake_llm", "--behaviour", "slow"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as fake:
        assert fake.stdout is not None
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+\n", fake.stdout.readline())
        fake.terminate()

"""Every setting is in one table, which agrees with the domain and with the contract."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from condense_grpc.api.condense.v1 import config_pb2
from condense_grpc.domain.config import ChainCompressionConfig, PurgeErrorsConfig, SessionConfig
from condense_grpc.errors import ConfigInvalid
from condense_grpc.settings import (
    SERVER_KNOBS,
    SESSION_KNOBS,
    ServerSettings,
    SettingsInvalid,
    check_session_config,
    default_of,
    load_server_settings,
)

BLOCK_TYPES = {"chain_compression": ChainCompressionConfig, "purge_errors": PurgeErrorsConfig}


def domain_defaults() -> dict[str, Any]:
    flat = {}
    for field in dataclasses.fields(SessionConfig):
        value = getattr(SessionConfig(), field.name)
        if field.name in BLOCK_TYPES:
            flat.update({f"{field.name}.{name}": inner for name, inner in dataclasses.asdict(value).items()})
        else:
            flat[field.name] = value
    return flat


def contract_fields() -> set[str]:
    names = set()
    for field in config_pb2.SessionConfig.DESCRIPTOR.fields:
        members = field.message_type.fields if field.name in BLOCK_TYPES else []
        names |= {f"{field.name}.{member.name}" for member in members} or {field.name}
    return names


def test_the_settings_of_a_session_are_those_of_the_domain_with_the_same_defaults() -> None:
    assert {knob.name: knob.default for knob in SESSION_KNOBS} == domain_defaults()


def test_the_settings_of_a_session_are_those_of_the_contract() -> None:
    assert {knob.name for knob in SESSION_KNOBS} == contract_fields()


def test_the_settings_of_the_server_are_the_fields_of_its_type() -> None:
    fields = [field.name for field in dataclasses.fields(ServerSettings)]
    assert [*(knob.name for knob in SERVER_KNOBS), "session_defaults"] == fields


@pytest.mark.parametrize("knob", [*SESSION_KNOBS, *SERVER_KNOBS], ids=lambda knob: knob.name)
def test_every_default_keeps_its_own_rule_and_is_explained(knob) -> None:
    assert knob.rule.accept(knob.default) == knob.default
    assert knob.sentence.endswith((".", ")"))
    assert knob.scope == ("server" if knob in SERVER_KNOBS else "session")


def test_every_setting_has_an_environment_variable_of_its_own() -> None:
    names = [knob.env for knob in (*SESSION_KNOBS, *SERVER_KNOBS)]
    assert len(set(names)) == len(names)
    assert all(name.startswith("CONDENSE_") for name in names)


NUMBERS_FROM_0 = [
    "min_batch_chars",
    "recovery_grace_turns",
    "summarizer_idle_timeout_ms",
    "summarizer_max_timeout_ms",
    "spill_preview_bytes",
]


@pytest.mark.parametrize("name", NUMBERS_FROM_0)
def test_counts_begin_at_0_and_fractions_are_rounded_down(name: str) -> None:
    assert check_session_config({name: 0}) == {name: 0}
    assert check_session_config({name: 7.9}) == {name: 7}
    for wrong in (-1, -0.5, float("nan"), float("inf"), True, "7", None, [7]):
        with pytest.raises(ConfigInvalid) as raised:
            check_session_config({name: wrong})
        assert raised.value.field == f"config.{name}"


@pytest.mark.parametrize("name", ["result_budget_chars", "spill_threshold"])
def test_sizes_begin_at_1(name: str) -> None:
    assert check_session_config({name: 1}) == {name: 1}
    for wrong in (0, -1, 0.5):
        with pytest.raises(ConfigInvalid, match="at least 1"):
            check_session_config({name: wrong})


@pytest.mark.parametrize("name", ["auto_budget_threshold", "budget_turn_delta"])
def test_shares_are_above_0_and_at_most_1_and_0_clears_them(name: str) -> None:
    assert check_session_config({name: 1}) == {name: 1.0}
    assert check_session_config({name: 1e-9}) == {name: 1e-9}
    assert check_session_config({name: 0}) == check_session_config({name: None}) == {name: None}
    for wrong in (-0.1, 1.0001, float("nan"), True, "0.5"):
        with pytest.raises(ConfigInvalid):
            check_session_config({name: wrong})


def test_a_refusal_shows_numbers_and_never_texts() -> None:
    with pytest.raises(ConfigInvalid, match="must be a number, at least 0, not -3"):
        check_session_config({"min_batch_chars": -3})
    with pytest.raises(ConfigInvalid) as raised:
        check_session_config({"prune_on": "secret"})
    assert "secret" not in raised.value.message


def test_all_settings_at_fault_are_named_at_once() -> None:
    changes = {"min_batch_chars": -1, "nonsense": 1, "purge_errors": {"enabled": 1}, "chain_compression": 3}
    with pytest.raises(ConfigInvalid) as raised:
        check_session_config(changes)
    assert sorted(violation.field for violation in raised.value.violations) == [
        "config.chain_compression",
        "config.min_batch_chars",
        "config.nonsense",
        "config.purge_errors.enabled",
    ]


def test_blocks_are_taken_member_by_member() -> None:
    changes = {"purge_errors": {"cooldown_turns": 5}, "protected_tools": ["a", "b*"], "enabled": False}
    assert check_session_config(changes) == {**changes, "protected_tools": ("a", "b*")}


def test_a_block_has_the_defaults_of_its_members() -> None:
    assert default_of("purge_errors") == dataclasses.asdict(PurgeErrorsConfig())


def test_flags_come_before_environment_file_and_defaults(tmp_path: Path) -> None:
    file = tmp_path / "condense.toml"
    file.write_text('listen = "127.0.0.1:1"\nworker_threads = 3\nlog_level = "error"\n')
    env = {"CONDENSE_LISTEN": "127.0.0.1:2", "CONDENSE_WORKER_THREADS": "4", "UNRELATED": "x"}
    settings = load_server_settings({"listen": "127.0.0.1:3", "log_level": None}, env, file)
    assert (settings.listen, settings.worker_threads, settings.log_level) == ("127.0.0.1:3", 4, "error")
    assert settings.summarizer == "extractive"


def test_defaults_of_sessions_come_from_the_environment_and_the_file(tmp_path: Path) -> None:
    file = tmp_path / "condense.toml"
    file.write_text('[session]\nmin_batch_chars = 5\nprune_on = "on-demand"\n[session.purge_errors]\nenabled = false\n')
    env = {"CONDENSE_SESSION_MIN_BATCH_CHARS": "9", "CONDENSE_SESSION_PROTECTED_TOOLS": "read, write*"}
    settings = load_server_settings({}, env, file)
    assert settings.session_defaults == {
        "min_batch_chars": 9,
        "prune_on": "on-demand",
        "protected_tools": ("read", "write*"),
        "purge_errors": {"enabled": False},
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("lissten = 1", ["lissten", "there are", "listen"]),
        ("[session]\nenabledd = true", ["enabledd", "there are", "enabled"]),
        ("[session]\npurge_errors = 3", ["purge_errors", "block"]),
        ("session = 3", ["session", "table"]),
        ("worker_threads = 0", ["worker_threads", "at least 1, at most 64, not 0"]),
        ("worker_threads = true", ["worker_threads", "must be a number"]),
        ("[session]\nmin_batch_chars = -1", ["session.min_batch_chars", "not -1"]),
        ("listen = [", ["condense.toml"]),
    ],
)
def test_a_file_with_a_mistake_is_refused_with_the_way_out(tmp_path: Path, text: str, words: list[str]) -> None:
    file = tmp_path / "condense.toml"
    file.write_text(text)
    with pytest.raises(SettingsInvalid) as raised:
        load_server_settings({}, {}, file)
    assert all(word in str(raised.value) for word in words), str(raised.value)


@pytest.mark.parametrize(
    "address", ["localhost", "127.0.0.1", "http://x:1", ":50051", "127.0.0.1:port", "h:65536", "[::1]:99999", "unix:"]
)
def test_an_address_without_host_and_port_is_refused(address: str) -> None:
    with pytest.raises(SettingsInvalid, match="host:port"):
        load_server_settings({"listen": address})


@pytest.mark.parametrize("address", ["localhost:0", "[::1]:50051", "0.0.0.0:65535", "unix:/run/condense.sock"])
def test_other_addresses_are_taken(address: str) -> None:
    assert load_server_settings({"listen": address}).listen == address


def test_a_missing_file_is_said() -> None:
    with pytest.raises(SettingsInvalid, match="cannot be read"):
        load_server_settings({}, {}, Path("nowhere.toml"))


@pytest.mark.parametrize(("written", "meant"), [("true", True), ("1", True), ("off", False), ("No", False)])
def test_booleans_of_the_environment_can_be_written_in_many_ways(written: str, meant: bool) -> None:
    assert load_server_settings({}, {"CONDENSE_REFLECTION": written}).reflection is meant


def test_a_mistake_in_the_environment_names_the_variable() -> None:
    with pytest.raises(SettingsInvalid, match="CONDENSE_REFLECTION: must be true or false"):
        load_server_settings({}, {"CONDENSE_REFLECTION": "perhaps"})

"""Configurations: presence is kept, every value is checked, masks name what changes."""

import pytest
from google.protobuf.field_mask_pb2 import FieldMask

from condense_grpc.api.condense.v1 import config_pb2 as pb
from condense_grpc.domain.config import BatchingMode, PruneOn, SessionConfig, merge
from condense_grpc.errors import ConfigInvalid, RequestInvalid, SummarizerUnknown
from condense_grpc.server.convert.config import ConfigReader, write_config

READER = ConfigReader(("extractive",))


def test_what_is_absent_does_not_change() -> None:
    assert READER.changes(pb.SessionConfig()) == {}


def test_what_is_present_changes_also_to_zero_and_to_nothing() -> None:
    config = pb.SessionConfig(
        enabled=False,
        min_batch_chars=0,
        auto_budget_threshold=0,
        protected_paths=pb.StringList(),
        prune_on=pb.PRUNE_ON_ON_DEMAND,
        batching_mode=pb.BATCHING_MODE_AGENT_MESSAGE,
        summarizer_thinking=pb.THINKING_LEVEL_XHIGH,
        purge_errors=pb.PurgeErrors(min_arg_chars=0),
        summarizer_model="extractive",
    )
    changes = READER.changes(config)
    assert changes == {
        "enabled": False,
        "min_batch_chars": 0,
        "auto_budget_threshold": None,
        "protected_paths": (),
        "prune_on": PruneOn.ON_DEMAND,
        "batching_mode": BatchingMode.AGENT_MESSAGE,
        "summarizer_thinking": "xhigh",
        "purge_errors": {"min_arg_chars": 0},
        "summarizer_model": "extractive",
    }
    assert isinstance(merge(SessionConfig(), changes).prune_on, PruneOn)


def test_the_whole_configuration_goes_out_and_comes_in_again() -> None:
    written = pb.SessionConfig()
    config = merge(SessionConfig(), {"auto_budget_threshold": 0.5, "protected_tools": ("a",)})
    write_config(config, written)
    assert not written.HasField("budget_turn_delta")
    assert merge(SessionConfig(), READER.changes(written)) == config


def test_an_enum_value_that_is_not_set_is_absent_and_one_that_is_not_known_is_refused() -> None:
    assert READER.changes(pb.SessionConfig(prune_on=pb.PRUNE_ON_UNSPECIFIED)) == {}
    with pytest.raises(ConfigInvalid, match="one of agent-message, on-demand, not 99"):
        READER.changes(pb.SessionConfig(prune_on=99))


def test_all_values_at_fault_are_named() -> None:
    with pytest.raises(ConfigInvalid) as raised:
        READER.changes(pb.SessionConfig(min_batch_chars=-1, spill_threshold=0, auto_budget_threshold=float("nan")))
    assert [violation.field for violation in raised.value.violations] == [
        "config.min_batch_chars",
        "config.auto_budget_threshold",
        "config.spill_threshold",
    ]


def test_an_unknown_summarizer_is_refused_with_those_that_exist() -> None:
    with pytest.raises(SummarizerUnknown) as raised:
        READER.changes(pb.SessionConfig(summarizer_model="acme/small"))
    assert raised.value.metadata["available"] == "default,extractive"


def test_a_new_session_has_what_the_operator_has_set_unless_the_client_says_otherwise() -> None:
    reader = ConfigReader((), {"min_batch_chars": 5, "enabled": False, "purge_errors": {"enabled": False}})
    config = pb.SessionConfig(enabled=True, purge_errors=pb.PurgeErrors(cooldown_turns=9))
    assert reader.new(config) == {
        "min_batch_chars": 5,
        "enabled": True,
        "purge_errors": {"enabled": False, "cooldown_turns": 9},
    }


def test_a_mask_changes_what_it_names_and_gives_defaults_back() -> None:
    reader = ConfigReader((), {"min_batch_chars": 5})
    config = pb.SessionConfig(enabled=False, spill_threshold=7)
    mask = FieldMask(paths=["config.enabled", "config.min_batch_chars", "config.purge_errors.cooldown_turns", "labels"])
    assert reader.masked(config, mask) == {
        "enabled": False,
        "min_batch_chars": 5,
        "purge_errors": {"cooldown_turns": 2},
    }


def test_a_mask_can_name_a_block_or_everything() -> None:
    block = READER.masked(pb.SessionConfig(), FieldMask(paths=["config.chain_compression"]))
    assert block == {
        "chain_compression": {
            "enabled": True,
            "rolling_window": 3,
            "strip_final_assistant_thinking": True,
            "fuse_range_summary": True,
        }
    }
    whole = READER.masked(pb.SessionConfig(enabled=False), FieldMask(paths=["config"]))
    assert merge(SessionConfig(spill_threshold=1), whole) == SessionConfig(enabled=False)


@pytest.mark.parametrize(
    "path", ["", "confg", "config.", "config.nonsense", "session_id", "config.purge_errors.x", "*"]
)
def test_a_mask_that_names_nothing_that_can_be_changed_is_refused(path: str) -> None:
    with pytest.raises(RequestInvalid) as raised:
        READER.masked(pb.SessionConfig(), FieldMask(paths=[path]))
    assert raised.value.field == "update_mask.paths"

"""The settings of a session: values, defaults, and how a change is merged in."""

from dataclasses import field, replace
from enum import StrEnum
from typing import Any

from condense_grpc.domain.frozen import frozen


class PruneOn(StrEnum):
    """When the service flushes by itself."""

    AGENT_MESSAGE = "agent-message"
    ON_DEMAND = "on-demand"


class BatchingMode(StrEnum):
    """What one batch holds: the calls of one assistant message, or of everything up to the next user message."""

    TURN = "turn"
    AGENT_MESSAGE = "agent-message"


@frozen
class ChainCompressionConfig:
    """Compression of closed chains. `rolling_window`: the newest chains that stay as they are."""

    enabled: bool = True
    rolling_window: int = 3
    strip_final_assistant_thinking: bool = True
    fuse_range_summary: bool = True


@frozen
class PurgeErrorsConfig:
    """Purge of the arguments of failed calls, `cooldown_turns` assistant messages later."""

    enabled: bool = True
    cooldown_turns: int = 2
    min_arg_chars: int = 500


@frozen
class SessionConfig:
    """Every setting of a session. Units are in the names; what each one does stands in `condense_grpc.settings`."""

    enabled: bool = True
    show_prune_status_line: bool = True
    quiet_oversized_skips: bool = False
    dedup_by_content_hash: bool = True
    prune_on: PruneOn = PruneOn.AGENT_MESSAGE
    batching_mode: BatchingMode = BatchingMode.TURN
    summarizer_model: str = "default"
    summarizer_thinking: str = "default"
    min_batch_chars: int = 1000
    result_budget_chars: int = 4000
    recovery_grace_turns: int = 3
    summarizer_idle_timeout_ms: int = 20_000
    summarizer_max_timeout_ms: int = 180_000
    spill_threshold: int = 65_536
    spill_preview_bytes: int = 2048
    auto_budget_threshold: float | None = None
    budget_turn_delta: float | None = None
    protected_tools: tuple[str, ...] = ()
    protected_paths: tuple[str, ...] = ("**/skills/**/*.md",)
    path_arguments: tuple[str, ...] = ("path", "file_path", "filePath")
    chain_compression: ChainCompressionConfig = field(default_factory=ChainCompressionConfig)
    purge_errors: PurgeErrorsConfig = field(default_factory=PurgeErrorsConfig)
    rename_repeated_ids: bool = False


def merge(config: SessionConfig, changes: dict[str, Any]) -> SessionConfig:
    """Replace single settings; the two nested blocks are merged member by member. Values must be checked before."""
    merged = dict(changes)
    for name in ("chain_compression", "purge_errors"):
        if name in merged:
            merged[name] = replace(getattr(config, name), **merged[name])
    return replace(config, **merged)

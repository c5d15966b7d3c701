"""Every setting in one table: name, default, rule, sentence. Command line, docs and environment are made from it.

Settings of a session (`SESSION_KNOBS`) are the fields of the contract's SessionConfig; what an operator sets here are
the defaults of new sessions. Settings of the server (`SERVER_KNOBS`) are the fields of `ServerSettings`. Each can come
from a flag (server only), from the environment (`CONDENSE_<NAME>`, `CONDENSE_SESSION_<NAME>`), from a TOML file
(server settings at its top, those of sessions in `[session]`), or from its default, in this order.

A value that breaks its rule is refused and never replaced. Standard library only.
"""

import math
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeGuard

from condense_grpc.errors import ConfigInvalid, FieldViolation, short

INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1
MIB = 1024 * 1024
BLOCKS = ("chain_compression", "purge_errors")


class SettingsInvalid(ValueError):
    """The server cannot start with these settings. The message says which one, where it came from, and the rule."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What a value must be. `accept` gives it in its final form, or raises ValueError with the rule broken.

    `read` makes a value of the text of an environment variable.
    """

    says: str
    accept: Callable[[Any], Any]
    read: Callable[[str], Any] = str


@dataclass(frozen=True, slots=True)
class Knob:
    """One setting. A dot in the name of a session's setting separates block and member."""

    name: str
    default: Any
    rule: Rule
    sentence: str
    scope: Literal["session", "server"] = "session"

    @property
    def env(self) -> str:
        """The environment variable."""
        place = "CONDENSE_SESSION_" if self.scope == "session" else "CONDENSE_"
        return place + self.name.replace(".", "_").upper()

    @property
    def flag(self) -> str:
        """The option of `condense-grpc serve`; only settings of the server have one."""
        return "--" + self.name.replace("_", "-")


def _refusal(rule: str, value: Any) -> ValueError:
    """The refusal; shows numbers, never texts."""
    shown = isinstance(value, int | float) and not isinstance(value, bool)
    return ValueError(f"must be {rule}, not {str(value)[:24]}" if shown else f"must be {rule}")


def _number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _boolean() -> Rule:
    words = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}

    def accept(value: Any) -> bool:
        if not isinstance(value, bool):
            raise _refusal("true or false", value)
        return value

    return Rule("true or false", accept, lambda text: words.get(text.strip().lower(), text))


def _number_in(text: str) -> Any:
    try:
        return int(text)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return text


def _count(least: int, most: int = INT64_MAX) -> Rule:
    """A whole number; a fraction is rounded down."""
    says = f"a number, at least {least}" + (f", at most {most}" if most < INT64_MAX else "")

    def accept(value: Any) -> int:
        if not _number(value) or value < least or value > most:
            raise _refusal(says, value)
        return math.floor(value)

    return Rule(says, accept, _number_in)


def _share() -> Rule:
    """A share of a whole; 0 (and in files nothing) means that it is not set."""
    says = "a number above 0, at most 1 (0 clears it)"

    def accept(value: Any) -> float | None:
        if value is None or (_number(value) and value == 0):
            return None
        if not _number(value) or not 0 < value <= 1:
            raise _refusal(says, value)
        return float(value)

    return Rule(says, accept, _number_in)


def _seconds(most: float) -> Rule:
    says = f"a number of seconds, at least 0, at most {most:g}"

    def accept(value: Any) -> float:
        if not _number(value) or not 0 <= value <= most:
            raise _refusal(says, value)
        return float(value)

    return Rule(says, accept, _number_in)


def _choice(*values: str) -> Rule:
    says = "one of " + ", ".join(values)

    def accept(value: Any) -> str:
        if value not in values:
            raise _refusal(says, value)
        return str(value)

    return Rule(says, accept)


def _text(says: str = "a text") -> Rule:
    def accept(value: Any) -> str:
        if not isinstance(value, str):
            raise _refusal(says, value)
        return value

    return Rule(says, accept)


def _address() -> Rule:
    says = "host:port, [host]:port (the port at most 65535) or unix:path"

    def accept(value: Any) -> str:
        found = isinstance(value, str) and re.fullmatch(r"unix:\S+|(?:[^\s:]+|\[[^\s\]]+\]):([0-9]{1,5})", value)
        if not found or int(found[1] or 0) > 65535:
            raise _refusal(says, value)
        return str(value)

    return Rule(says, accept)


def _texts() -> Rule:
    """A list of texts; in an environment variable separated by commas."""

    def accept(value: Any) -> tuple[str, ...]:
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            raise _refusal("a list of texts", value)
        return tuple(value)

    return Rule("a list of texts", accept, lambda text: [item.strip() for item in text.split(",") if item.strip()])


SESSION_KNOBS = (
    Knob("enabled", True, _boolean(), "Whether the session condenses at all."),
    Knob("prune_on", "agent-message", _choice("agent-message", "on-demand"), "When the server flushes by itself."),
    Knob("batching_mode", "turn", _choice("turn", "agent-message"), "What one summary covers."),
    Knob("summarizer_model", "default", _text(), "Who writes summaries: a name that GetCapabilities lists."),
    Knob(
        "summarizer_thinking",
        "default",
        _choice("default", "off", "minimal", "low", "medium", "high", "xhigh"),
        "How much a summarizer model may reason.",
    ),
    Knob("min_batch_chars", 1000, _count(0), "A batch with fewer characters of results is skipped; 0: none is."),
    Knob("result_budget_chars", 4000, _count(1), "A longer result reaches the summarizer in extracts."),
    Knob(
        "recovery_grace_turns",
        3,
        _count(0, INT32_MAX),
        "For how many user messages a recovered text stays verbatim; 0: not at all.",
    ),
    Knob("dedup_by_content_hash", True, _boolean(), "Whether a repeated result shares the ref of the earlier one."),
    Knob("chain_compression.enabled", True, _boolean(), "Whether finished chains are compressed to one block."),
    Knob(
        "chain_compression.rolling_window", 3, _count(0, INT32_MAX), "How many of the latest chains stay as they are."
    ),
    Knob(
        "chain_compression.strip_final_assistant_thinking",
        True,
        _boolean(),
        "Whether the answer that ends a compressed chain loses its thinking.",
    ),
    Knob(
        "chain_compression.fuse_range_summary",
        True,
        _boolean(),
        "Whether the summarizer may fuse the summaries of a chain into one text.",
    ),
    Knob("purge_errors.enabled", True, _boolean(), "Whether the arguments of failed calls are purged."),
    Knob("purge_errors.cooldown_turns", 2, _count(0, INT32_MAX), "How many assistant messages must have followed."),
    Knob("purge_errors.min_arg_chars", 500, _count(0), "Shorter arguments of failed calls stay."),
    Knob("auto_budget_threshold", None, _share(), "Flush when the context reaches this share of the window."),
    Knob("budget_turn_delta", None, _share(), "Flush when the context has grown by this share of the window."),
    Knob("protected_tools", (), _texts(), "Tools whose results are never condensed: names or globs."),
    Knob("protected_paths", ("**/skills/**/*.md",), _texts(), "A call with a path that matches is never condensed."),
    Knob("path_arguments", ("path", "file_path", "filePath"), _texts(), "The members of arguments that hold a path."),
    Knob("spill_threshold", 65_536, _count(1), "A result of so many characters is archived on arrival."),
    Knob("spill_preview_bytes", 2048, _count(0), "The most bytes of the preview of such a result."),
    Knob(
        "summarizer_idle_timeout_ms", 20_000, _count(0), "How long a summarizer model may be silent; 0: without limit."
    ),
    Knob(
        "summarizer_max_timeout_ms", 180_000, _count(0), "How long one attempt of a model may take; 0: without limit."
    ),
    Knob("show_prune_status_line", True, _boolean(), "Whether answers carry a status line."),
    Knob("quiet_oversized_skips", False, _boolean(), "Whether flushes are silent about batches skipped for size."),
    Knob(
        "rename_repeated_ids",
        False,
        _boolean(),
        "Whether native views give new ids to repeated calls where the provider wants unique ones.",
    ),
)

SERVER_KNOBS = (
    Knob("listen", "127.0.0.1:50051", _address(), "Where to listen; port 0: any.", "server"),
    Knob(
        "store", "sqlite:", _text("an address"), "sqlite:///path, sqlite: (user's data folder), or memory:.", "server"
    ),
    Knob(
        "summarizer",
        "extractive",
        _text("extractive or provider:model"),
        "Who writes summaries, unless a session says otherwise.",
        "server",
    ),
    Knob("summarizer_base_url", "", _text("a URL"), "Where that model is reached; empty: at its provider.", "server"),
    Knob("summarizer_api_key_env", "", _text("a name"), "The environment variable that holds its key.", "server"),
    Knob("summarizer_api_key_file", "", _text("a path"), "The file that holds its key.", "server"),
    Knob("fallback", "", _text("provider:model"), "The model that stands in when another one fails.", "server"),
    Knob("fallback_base_url", "", _text("a URL"), "Where that model is reached; empty: at its provider.", "server"),
    Knob("fallback_api_key_env", "", _text("a name"), "The environment variable that holds its key.", "server"),
    Knob("fallback_api_key_file", "", _text("a path"), "The file that holds its key.", "server"),
    Knob(
        "summarizer_models",
        (),
        _texts(),
        "Models that sessions may choose besides: provider:model, or provider:* for all of one.",
        "server",
    ),
    Knob(
        "summarizer_prices",
        (),
        _texts(),
        "Prices that are not in the list: provider:model=input/output, in dollars per million tokens.",
        "server",
    ),
    Knob("summarizer_output_tokens", 8192, _count(64), "The most tokens of one answer, reasoning included.", "server"),
    Knob("summarizer_batch_chars", 100_000, _count(0), "The most characters of one batch; 0: no limit.", "server"),
    Knob("summarizer_retries", 2, _count(0, 10), "How often a failure that may pass is tried again.", "server"),
    Knob("summarizer_prompts", "", _text("a folder"), "Instructions of your own: batch.md, fuse.md.", "server"),
    Knob("redact", True, _boolean(), "Whether well-known shapes of keys are taken out of what models see.", "server"),
    Knob("redact_patterns", (), _texts(), "Regular expressions of what is taken out besides.", "server"),
    Knob("redact_function", "", _text("module:name"), "A function from text to text that takes out more.", "server"),
    Knob(
        "summarize_in_background",
        False,
        _boolean(),
        "Whether models summarize finished batches before a flush asks for it.",
        "server",
    ),
    Knob("summarize_concurrency", 4, _count(1, 256), "How many batches of one flush are summarized at once.", "server"),
    Knob("max_loaded_sessions", 1000, _count(1, INT32_MAX), "How many sessions stay in memory.", "server"),
    Knob(
        "session_rest_seconds",
        60.0,
        _seconds(86_400),
        "A session unused for so long is packed: a tenth of the memory, some milliseconds at its next use.",
        "server",
    ),
    Knob(
        "session_evict_seconds", 3600.0, _seconds(86_400 * 365), "One unused for so long leaves the memory.", "server"
    ),
    Knob(
        "session_memory_bytes",
        512 * MIB,
        _count(MIB),
        "Beyond so much memory (an estimate) the longest unused sessions are packed or leave at once.",
        "server",
    ),
    Knob(
        "max_unwritten_bytes",
        64 * MIB,
        _count(0),
        "Appends wait for the store when so much is not written yet, of one session an eighth; 0: always.",
        "server",
    ),
    Knob("max_unwritten_messages", 40_000, _count(0), "The same by the number of messages.", "server"),
    Knob("max_message_bytes", 64 * MIB, _count(4 * MIB, INT32_MAX), "The largest gRPC message, in and out.", "server"),
    Knob(
        "max_transcript_message_bytes",
        32 * MIB,
        _count(1024),
        "The largest message of a transcript; never above max_message_bytes.",
        "server",
    ),
    Knob(
        "max_delta_bytes",
        32 * MIB,
        _count(1024),
        "The largest delta of one request; never above max_message_bytes.",
        "server",
    ),
    Knob("max_delta_messages", 100_000, _count(1), "The most messages of one delta or stream.", "server"),
    Knob("max_stream_bytes", 256 * MIB, _count(1024), "The largest stream of AppendMessages.", "server"),
    Knob("max_concurrent_calls", 1000, _count(1, INT32_MAX), "How many calls may run at once.", "server"),
    Knob("worker_threads", 2, _count(1, 64), "Threads that convert large requests and answers.", "server"),
    Knob("keepalive_seconds", 60, _count(10, 86_400), "After so long a silence a connection is probed.", "server"),
    Knob("reflection", True, _boolean(), "Whether tools may ask for the contract (gRPC reflection).", "server"),
    Knob("shutdown_grace_seconds", 10.0, _seconds(3600), "How long running calls may go on at a stop.", "server"),
    Knob("log_level", "info", _choice("debug", "info", "warning", "error"), "What is logged.", "server"),
)


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The settings of one server, complete and checked. `session_defaults`: changed settings, blocks as mappings."""

    listen: str
    store: str
    summarizer: str
    summarizer_base_url: str
    summarizer_api_key_env: str
    summarizer_api_key_file: str
    fallback: str
    fallback_base_url: str
    fallback_api_key_env: str
    fallback_api_key_file: str
    summarizer_models: tuple[str, ...]
    summarizer_prices: tuple[str, ...]
    summarizer_output_tokens: int
    summarizer_batch_chars: int
    summarizer_retries: int
    summarizer_prompts: str
    redact: bool
    redact_patterns: tuple[str, ...]
    redact_function: str
    summarize_in_background: bool
    summarize_concurrency: int
    max_loaded_sessions: int
    session_rest_seconds: float
    session_evict_seconds: float
    session_memory_bytes: int
    max_unwritten_bytes: int
    max_unwritten_messages: int
    max_message_bytes: int
    max_transcript_message_bytes: int
    max_delta_bytes: int
    max_delta_messages: int
    max_stream_bytes: int
    max_concurrent_calls: int
    worker_threads: int
    keepalive_seconds: int
    reflection: bool
    shutdown_grace_seconds: float
    log_level: str
    session_defaults: Mapping[str, Any] = field(default_factory=dict)


def check_session_config(changes: Mapping[str, Any], prefix: str = "config") -> dict[str, Any]:
    """Changed settings in their final form; blocks are mappings of their members.

    Raises ConfigInvalid for all settings that are unknown or break their rule. `prefix` names the config's field.
    """
    flat, violations = _flattened(changes, prefix)
    accepted: dict[str, Any] = {}
    for name, value in flat.items():
        knob = _SESSION_BY_NAME.get(name)
        if knob is None:
            violations.append(FieldViolation(f"{prefix}.{short(name, 80)}", "there is no such setting"))
            continue
        try:
            place, _, member = name.rpartition(".")
            (accepted.setdefault(place, {}) if place else accepted)[member] = knob.rule.accept(value)
        except ValueError as refusal:
            violations.append(FieldViolation(f"{prefix}.{name}", str(refusal)))
    if violations:
        raise ConfigInvalid.of(violations)
    return accepted


def _flattened(changes: Mapping[str, Any], prefix: str) -> tuple[dict[str, Any], list[FieldViolation]]:
    flat: dict[str, Any] = {}
    violations: list[FieldViolation] = []
    for name, value in changes.items():
        if name not in BLOCKS:
            flat[name] = value
        elif isinstance(value, Mapping):
            flat.update((f"{name}.{member}", inner) for member, inner in value.items())
        else:
            violations.append(FieldViolation(f"{prefix}.{name}", "must be a block of settings"))
    return flat, violations


_SESSION_BY_NAME = {knob.name: knob for knob in SESSION_KNOBS}
_SERVER_BY_NAME = {knob.name: knob for knob in SERVER_KNOBS}


def default_of(name: str) -> Any:
    """The default of a session's setting, for a block those of its members."""
    if name in BLOCKS:
        return {knob.name.partition(".")[2]: knob.default for knob in SESSION_KNOBS if knob.name.startswith(name + ".")}
    return _SESSION_BY_NAME[name].default


def load_server_settings(
    flags: Mapping[str, Any] | None = None, env: Mapping[str, str] | None = None, file: Path | None = None
) -> ServerSettings:
    """The settings of a server: flags, then environment, then file, then defaults. Raises SettingsInvalid.

    `flags` by name of the setting; None stands for a flag that was not given.
    """
    env = env or {}
    written = _read_file(file) if file is not None else {}
    sessions = written.pop("session", {})
    _refuse_unknown(written, _SERVER_BY_NAME, str(file))
    given = {name: value for name, value in (flags or {}).items() if value is not None}
    values: dict[str, Any] = {}
    for knob in SERVER_KNOBS:
        if knob.name in given:
            source, value = knob.flag, given[knob.name]
        elif knob.env in env:
            source, value = knob.env, knob.rule.read(env[knob.env])
        elif knob.name in written:
            source, value = f"{knob.name} in {file}", written[knob.name]
        else:
            source, value = knob.name, knob.default
        values[knob.name] = _accepted(knob, value, source)
    return ServerSettings(**values, session_defaults=_session_defaults(sessions, env, file))


def _accepted(knob: Knob, value: Any, source: str) -> Any:
    try:
        return knob.rule.accept(value)
    except ValueError as refusal:
        raise SettingsInvalid(f"{source}: {refusal}") from None


def _session_defaults(written: Any, env: Mapping[str, str], file: Path | None) -> dict[str, Any]:
    if not isinstance(written, dict):
        raise SettingsInvalid(f"session in {file}: must be a table")
    flat, violations = _flattened(written, "session")
    if violations:
        raise SettingsInvalid(f"{violations[0].field} in {file}: {violations[0].description}")
    _refuse_unknown(flat, _SESSION_BY_NAME, f"[session] of {file}")
    defaults: dict[str, Any] = {}
    for knob in SESSION_KNOBS:
        if knob.env in env:
            value = _accepted(knob, knob.rule.read(env[knob.env]), knob.env)
        elif knob.name in flat:
            value = _accepted(knob, flat[knob.name], f"session.{knob.name} in {file}")
        else:
            continue
        place, _, member = knob.name.rpartition(".")
        (defaults.setdefault(place, {}) if place else defaults)[member] = value
    return defaults


def _read_file(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except OSError as error:
        raise SettingsInvalid(f"{file}: cannot be read ({error.strerror})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsInvalid(f"{file}: {error}") from None


def _refuse_unknown(written: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    unknown = sorted(set(written) - set(known))
    if unknown:
        raise SettingsInvalid(f"{where}: no setting {', '.join(unknown)}; there are {', '.join(sorted(known))}")

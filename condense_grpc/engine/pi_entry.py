"""One entry of a Pi session file: what it is for a session of ours.

A message, a decision about condensing, the compaction of a host, or something of the host's own that is only carried
along. What a host shows as a message without storing it as one (notices of extensions, summaries of other branches)
is a message here too, in the form in which the host shows it.
"""

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum

from condense_grpc.domain.entries import Entry
from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.messages import Message
from condense_grpc.domain.pi_entries import PREFIX, entry_from_pi, entry_time_ms
from condense_grpc.domain.pi_json import SUMMARY_TYPE, message_from_pi
from condense_grpc.engine.entry_codec import encode_entries
from condense_grpc.engine.pi_file import PiLine


class PiKind(Enum):
    """What an entry is."""

    MESSAGE = "message"
    SHOWN = "shown"
    DECISION = "decision"
    COMPACTION = "compaction"
    FOREIGN = "foreign"
    MALFORMED = "malformed"


@frozen
class PiEntry:
    """An entry of the active branch. `message` of messages and of what is shown as one, `decision` of decisions."""

    line: PiLine
    kind: PiKind
    message: Message | None = None
    decision: Entry | None = None

    @property
    def entry_id(self) -> str:
        """The id by which other entries name it; empty in files that have none."""
        return self.line.text_value("id")

    @property
    def time_ms(self) -> int:
        """When it was written."""
        return entry_time_ms(self.line.value("timestamp")) or 0


def read_entry(line: PiLine, path_arguments: Sequence[str], *, is_native: bool = False) -> PiEntry:
    """What a line is. Never fails. Of a history that `is_native` every message must be an object."""
    try:
        found = _read(line, path_arguments)
    except (ValueError, TypeError, OverflowError, RecursionError):
        # Numbers that nothing can store, or nesting without end.
        return PiEntry(line, PiKind.MALFORMED)
    is_object = found.kind is not PiKind.MESSAGE or isinstance(line.value("message"), dict)
    return found if is_object or not is_native else PiEntry(line, PiKind.MALFORMED)


def _read(line: PiLine, path_arguments: Sequence[str]) -> PiEntry:
    custom_type = line.text_value("customType")
    match line.value("type"):
        case "message" if "message" in line.members:
            return PiEntry(line, PiKind.MESSAGE, _message(line.value("message"), line.raw("message")))
        case "custom" if custom_type.startswith(PREFIX):
            return _decision(line, path_arguments)
        case "custom_message" if custom_type == SUMMARY_TYPE:
            return _decision(line, path_arguments)
        case "custom_message":
            names = ("customType", "content", "display", "details")
            return PiEntry(line, PiKind.SHOWN, _shown(line, "custom", names))
        case "branch_summary" if line.value("summary"):
            return PiEntry(line, PiKind.SHOWN, _shown(line, "branchSummary", ("summary", "fromId")))
        case "compaction":
            return PiEntry(line, PiKind.COMPACTION, _shown(line, "compactionSummary", ("summary", "tokensBefore")))
        case _:
            return PiEntry(line, PiKind.FOREIGN)


def _message(value: object, raw: str) -> Message:
    """The message of a value, which keeps its text."""
    message = message_from_pi(value)
    return replace(message, source_json=raw)


def _shown(line: PiLine, role: str, names: Sequence[str]) -> Message:
    """The message that a host makes of an entry: these members, and the time of the entry."""
    members = [f'"role":"{role}"', *(f'"{name}":{line.raw(name)}' for name in names if name in line.members)]
    value: dict[str, object] = {"role": role, **{name: line.value(name) for name in names if name in line.members}}
    time_ms = entry_time_ms(line.value("timestamp"))
    if time_ms is not None:
        members.append(f'"timestamp":{time_ms}')
        value["timestamp"] = time_ms
    return _message(value, "{" + ",".join(members) + "}")


def _decision(line: PiLine, path_arguments: Sequence[str]) -> PiEntry:
    entry = entry_from_pi({name: member.value for name, member in line.members.items()}, path_arguments)
    if entry is None:
        return PiEntry(line, PiKind.MALFORMED)
    encode_entries([entry])
    return PiEntry(line, PiKind.DECISION, decision=entry)

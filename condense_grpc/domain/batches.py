"""Calls, batches, records and refs: what a flush works on and what the index files.

`text` and `args_json` of a record may be None: the service keeps them in the stored messages that `source` names
and fetches them when they are asked for.
"""

from typing import NamedTuple

from condense_grpc.domain.arguments import paths_in
from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.messages import Part
from condense_grpc.domain.occurrence import occurrence_key
from condense_grpc.domain.text import content_hash


class Source(NamedTuple):
    """Where the pieces of a call lie: node numbers of the stored messages, and the call's place among its siblings.

    `call_node` 0: a stray result that belongs to no call.
    """

    call_node: int
    call_ordinal: int
    result_node: int


@frozen
class Call:
    """A tool call with its result. `parts` is the complete part list, only when some part is not text."""

    tool_call_id: str
    tool_name: str
    args_json: str
    result_text: str
    is_error: bool = False
    result_timestamp_ms: int | None = None
    occurrence: int | None = None
    parts: tuple[Part, ...] = ()
    source: Source | None = None

    @property
    def key(self) -> str:
        """The occurrence key of the result."""
        return occurrence_key(self.tool_call_id, self.result_timestamp_ms, self.occurrence)


@frozen
class Batch:
    """What one summary covers: the calls of one assistant message, or of one stretch of work (`group`)."""

    turn_index: int
    timestamp_ms: int
    assistant_text: str
    calls: tuple[Call, ...]
    group: int | None = None


class Record(NamedTuple):
    """One filed result. `content` is the content hash (empty: none, see `content_key`).

    A tuple, as are refs and sources: a session has one for each of its results, and a load makes all of them.
    """

    tool_call_id: str
    tool_name: str
    is_error: bool
    turn_index: int | None
    timestamp_ms: int | None
    result_timestamp_ms: int | None = None
    occurrence: int | None = None
    text_chars: int = 0
    text: str | None = None
    args_json: str | None = None
    parts: tuple[Part, ...] = ()
    has_other_parts: bool = False
    paths: tuple[str, ...] = ()
    content_hash: str = ""
    spilled: bool = False
    spill_bytes: int | None = None
    result_preview: str | None = None
    spill_path: str | None = None
    source: Source | None = None

    @property
    def key(self) -> str:
        """The occurrence key of the result."""
        return occurrence_key(self.tool_call_id, self.result_timestamp_ms, self.occurrence)

    @property
    def content_key(self) -> tuple[str, bool] | None:
        """What equal results share; None when this one never counts as a duplicate or an original."""
        if not self.content_hash or self.has_other_parts:
            return None
        return self.content_hash, self.is_error


@frozen
class Spill:
    """Facts of a result that was spilled: size in UTF-8 bytes and the head shown in its stub."""

    spill_bytes: int
    preview: str


@frozen
class RecordContext:
    """What every record of one batch shares. `path_arguments`: the names that hold a path."""

    turn_index: int
    timestamp_ms: int | None
    path_arguments: tuple[str, ...] = ("path",)


def record_of(call: Call, context: RecordContext, spill: Spill | None = None, *, is_filed: bool = False) -> Record:
    """The record of a call, complete with its text; `is_filed`: without the bodies that lie in stored messages."""
    is_complete = not is_filed or call.source is None
    return Record(
        tool_call_id=call.tool_call_id,
        tool_name=call.tool_name,
        is_error=call.is_error,
        turn_index=context.turn_index,
        timestamp_ms=context.timestamp_ms,
        result_timestamp_ms=call.result_timestamp_ms,
        occurrence=call.occurrence,
        text_chars=len(call.result_text),
        text=call.result_text if is_complete else None,
        args_json=call.args_json if is_complete else None,
        parts=call.parts if is_complete else (),
        has_other_parts=bool(call.parts),
        paths=paths_in(call.args_json, context.path_arguments),
        content_hash="" if call.parts else content_hash(call.tool_name, call.result_text),
        spilled=spill is not None,
        spill_bytes=spill.spill_bytes if spill else None,
        result_preview=spill.preview if spill else None,
        source=call.source,
    )


class Ref(NamedTuple):
    """A short ref and the result it stands for."""

    short_id: str
    tool_call_id: str
    result_timestamp_ms: int | None = None
    occurrence: int | None = None

    @property
    def key(self) -> str:
        """The occurrence key of the result."""
        return occurrence_key(self.tool_call_id, self.result_timestamp_ms, self.occurrence)


@frozen
class SummaryDetails:
    """What a summary says about itself."""

    refs: tuple[Ref, ...] = ()
    tool_names: tuple[str, ...] = ()
    turn_index: int | None = None
    timestamp_ms: int | None = None

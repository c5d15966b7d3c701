"""How decisions are written down: one msgpack array per entry, headed by its kind.

Texts and arguments that lie in stored messages are not written again: a record with a `source` stands for them.
Fields are written by name, so that a later version can add some; unknown kinds of a newer version are refused.
"""

from collections.abc import Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from typing import Any

from condense_grpc.domain.batches import Record, Ref, Source, SummaryDetails
from condense_grpc.domain.entries import (
    AliasEntry,
    ArchivedRef,
    CarriedEntry,
    ChainEntry,
    ContextMetrics,
    DiagnosticEntry,
    Entry,
    FlushMetricsEntry,
    Frontier,
    FrontierEntry,
    IndexEntry,
    PinEntry,
    SkipEntry,
    SkippedCall,
    SkipReason,
    Stats,
    StatsEntry,
    SummaryEntry,
)
from condense_grpc.domain.occurrence import ParsedKey
from condense_grpc.engine.codec import as_text, pack, read_part, unpack, write_part

_KINDS: dict[str, type[Any]] = {
    "index": IndexEntry,
    "summary": SummaryEntry,
    "alias": AliasEntry,
    "skip": SkipEntry,
    "frontier": FrontierEntry,
    "stats": StatsEntry,
    "chain": ChainEntry,
    "diagnostic": DiagnosticEntry,
    "flush-metrics": FlushMetricsEntry,
    "pin": PinEntry,
    "carried": CarriedEntry,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_MANY: dict[tuple[type[Any], str], type[Any]] = {
    (IndexEntry, "records"): Record,
    (IndexEntry, "refs"): Ref,
    (SummaryDetails, "refs"): Ref,
    (SkipEntry, "calls"): SkippedCall,
    (ChainEntry, "archived_refs"): ArchivedRef,
}
_ONE: dict[tuple[type[Any], str], type[Any]] = {
    (SummaryEntry, "details"): SummaryDetails,
    (AliasEntry, "record"): Record,
    (AliasEntry, "new_identity"): ParsedKey,
    (FrontierEntry, "frontier"): Frontier,
    (StatsEntry, "stats"): Stats,
    (FlushMetricsEntry, "metrics"): ContextMetrics,
    (Record, "source"): Source,
}


def encode_entries(entries: Sequence[Entry]) -> bytes:
    """The bytes of the entries of one commit."""
    return pack([[_NAMES[type(entry)], _write(entry)] for entry in entries])


def decode_entries(data: bytes) -> tuple[Entry, ...]:
    """The entries of one commit."""
    return tuple(_read(_KINDS[kind], value) for kind, value in unpack(data))


def _write(value: Any) -> Any:
    """A dataclass as pairs of names and values that differ from the default."""
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, tuple):
        return [_write(item) for item in value]
    if not is_dataclass(value):
        return value
    written: list[Any] = []
    for item in fields(value):
        member = getattr(value, item.name)
        if isinstance(value, Record) and item.name == "parts":
            member = None if value.source else [write_part(part) for part in member]
        elif isinstance(value, Record) and value.source and item.name in ("text", "args_json"):
            member = None
        elif item.default == member:
            continue
        else:
            member = _write(member)
        if member is not None or item.default is MISSING:
            written += (item.name, member)
    return written


def _read(kind: type[Any], value: Sequence[Any]) -> Any:
    members: dict[str, Any] = {}
    for name, member in zip(value[::2], value[1::2], strict=True):
        name = as_text(name)
        place = (kind, name)
        if place in _MANY:
            members[name] = tuple(_read(_MANY[place], item) for item in member)
        elif place in _ONE:
            members[name] = _read(_ONE[place], member)
        elif place == (Record, "parts"):
            members[name] = tuple(read_part(part) for part in member)
        elif place == (SkipEntry, "reason"):
            members[name] = SkipReason(member)
        elif place == (CarriedEntry, "packed"):
            members[name] = member
        elif isinstance(member, list):
            members[name] = tuple(as_text(item) for item in member)
        else:
            members[name] = as_text(member) if isinstance(member, bytes) else member
    return kind(**members)

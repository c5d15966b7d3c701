"""How decisions are written down: one msgpack array per entry, headed by its kind.

Texts and arguments that lie in stored messages are not written again: a record with a `source` stands for them.
Fields are written by name, so that a later version can add some, lists of many equals as tables; unknown kinds of a
newer version are refused.
"""

from collections.abc import Callable, Sequence
from dataclasses import MISSING
from enum import StrEnum
from functools import partial
from typing import Any

import msgspec

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
from condense_grpc.engine.entry_table import IN_MESSAGES, Table, members_of, read_table, write_table

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
_encoder = msgspec.msgpack.Encoder()
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


# What is written as it is.
_PLAIN = (str, int, float, bool, type(None), bytes)


def encode_entries(entries: Sequence[Entry]) -> bytes:
    """The bytes of the entries of one commit."""
    try:
        return _encoder.encode([(_NAMES[type(entry)], _pairs(entry)) for entry in entries])
    except UnicodeEncodeError:
        return pack([[_NAMES[type(entry)], _write(entry)] for entry in entries])


def decode_entries(data: bytes) -> tuple[Entry, ...]:
    """The entries of one commit."""
    return tuple(_read(_KINDS[kind], value) for kind, value in unpack(data))


def _pairs(value: Any) -> list[Any]:
    """A dataclass as names and values that differ from the default, with its lists as tables."""
    pairs: list[Any] = []
    for name, default, write in _WRITERS[type(value)]:
        member = getattr(value, name)
        if member == default or (member is None and default is not MISSING):
            continue
        pairs += (name, member if write is None or member is None else write(member))
    return pairs


def _write(value: Any) -> Any:
    """The same where a text has lone surrogates, member by member."""
    members = _MEMBERS.get(type(value))
    if members is None:
        if isinstance(value, tuple):
            return [_write(item) for item in value]
        return value.value if isinstance(value, StrEnum) else value
    in_messages = isinstance(value, Record) and value.source is not None
    written: list[Any] = []
    for name, default in members:
        member = getattr(value, name)
        if member == default or (in_messages and name in IN_MESSAGES):
            continue
        if isinstance(value, Record) and name == "parts":
            member = [write_part(part) for part in member]
        elif type(member) not in _PLAIN:
            member = _write(member)
        if member is not None or default is MISSING:
            written += (name, member)
    return written


def _read(kind: type[Any], value: Sequence[Any]) -> Any:
    readers, pairs = _READERS[kind], iter(value)
    members: dict[str, Any] = {}
    for name, member in zip(pairs, pairs, strict=True):
        reader = readers.get(name)
        if reader is not None:
            members[name] = reader(member)
        elif isinstance(member, list):
            members[name] = tuple(map(as_text, member) if bytes in map(type, member) else member)
        else:
            members[name] = as_text(member) if isinstance(member, bytes) else member
    return kind(**members)


def _readers_of(kind: type[Any]) -> dict[str, Callable[[Any], Any]]:
    readers: dict[str, Callable[[Any], Any]] = {
        name: partial(_read, one) for (of, name), one in _ONE.items() if of is kind
    }
    readers |= {name: partial(_read_many, one) for (of, name), one in _MANY.items() if of is kind}
    special: dict[type[Any], dict[str, Callable[[Any], Any]]] = {
        Record: {"parts": lambda parts: tuple(read_part(part) for part in parts)},
        SkipEntry: {"reason": SkipReason},
        CarriedEntry: {"packed": lambda packed: packed},
    }
    return readers | special.get(kind, {})


def _read_many(kind: type[Any], values: Sequence[Any] | Table) -> tuple[Any, ...]:
    if isinstance(values, dict):
        return read_table(kind, values)
    return tuple([_read(kind, value) for value in values])


def _writers_of(kind: type[Any]) -> tuple[tuple[str, Any, Callable[[Any], Any] | None], ...]:
    """The members of a kind with their defaults, and how those are written that msgpack does not take as they are."""
    writers: dict[str, Callable[[Any], Any]] = {
        name: _write if one is Record else _pairs for (of, name), one in _ONE.items() if of is kind
    }
    writers |= {name: partial(write_table, one) for (of, name), one in _MANY.items() if of is kind}
    return tuple((name, default, writers.get(name)) for name, default in _MEMBERS[kind])


_KINDS_OF_VALUES = (*_KINDS.values(), *_MANY.values(), *_ONE.values())
# Names and defaults of the members of each kind of value.
_MEMBERS = {kind: tuple(zip(*members_of(kind), strict=True)) for kind in _KINDS_OF_VALUES}
_WRITERS = {kind: _writers_of(kind) for kind in _KINDS_OF_VALUES}
# How members are read that are more than a text, a number, or a list of texts.
_READERS = {kind: _readers_of(kind) for kind in _KINDS_OF_VALUES}

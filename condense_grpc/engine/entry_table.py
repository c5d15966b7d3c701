"""Records, refs and marks of one entry, written down as a table: the names of the columns once, then a row for each.

Most of what is decided are thousands of these. The columns are members in the order in which they are declared, up to
the last that says anything, so that a row is read by handing it to the class. A table of another version, with other
columns, is read by name. Whatever msgpack text cannot hold is no table's matter: its entry is written by members.
"""

from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields, is_dataclass
from itertools import starmap
from operator import attrgetter
from typing import Any

from condense_grpc.domain.batches import Record, Ref, Source
from condense_grpc.domain.entries import ArchivedRef, SkippedCall
from condense_grpc.engine.codec import read_part, write_part

Table = dict[str, Any]
Cells = Callable[[Any], Any]

_NAMES, _ROWS = "names", "rows"
# What a record need not hold when it names its stored messages.
IN_MESSAGES = ("text", "args_json", "parts")


def members_of(kind: type[Any]) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """The names of the members of a dataclass or a named tuple, and their defaults (MISSING: none)."""
    if is_dataclass(kind):
        return tuple(one.name for one in fields(kind)), tuple(one.default for one in fields(kind))
    defaults: dict[str, Any] = kind._field_defaults
    return kind._fields, tuple(defaults.get(name, MISSING) for name in kind._fields)


_MEMBERS: dict[type[Any], tuple[tuple[str, ...], tuple[Any, ...]]] = {
    kind: members_of(kind) for kind in (Record, Ref, SkippedCall, ArchivedRef)
}
_COLUMNS = {kind: names for kind, (names, _) in _MEMBERS.items()}
_DEFAULTS = {kind: defaults for kind, (_, defaults) in _MEMBERS.items()}
_ALL_CELLS = {kind: attrgetter(*names) for kind, names in _COLUMNS.items()}
_RECORD_AT = {name: place for place, name in enumerate(_COLUMNS[Record])}
_RECORD_READERS: dict[str, Cells] = {
    "parts": lambda parts: tuple(map(read_part, parts)) if parts else (),
    "paths": tuple,
    "source": lambda source: None if source is None else Source._make(source),
}


def write_table(kind: type[Any], values: Sequence[Any]) -> Table:
    """The table of values of one kind."""
    rows: list[Sequence[Any]] = [_ALL_CELLS[kind](value) for value in values]
    if kind is Record:
        rows = [_record_cells(row) for row in rows]
    width = _used_width(kind, rows)
    return {_NAMES: _COLUMNS[kind][:width], _ROWS: [row[:width] for row in rows]}


def _record_cells(cells: Sequence[Any]) -> Sequence[Any]:
    row, source = list(cells), cells[_RECORD_AT["source"]]
    if source is None:
        row[_RECORD_AT["parts"]] = [*map(write_part, row[_RECORD_AT["parts"]])]
        return row
    row[_RECORD_AT["source"]] = [*source]
    for name in IN_MESSAGES:
        row[_RECORD_AT[name]] = _DEFAULTS[Record][_RECORD_AT[name]]
    return row


def _used_width(kind: type[Any], rows: Sequence[Sequence[Any]]) -> int:
    width = len(_COLUMNS[kind])
    while width and _DEFAULTS[kind][width - 1] is not MISSING:
        default = _DEFAULTS[kind][width - 1]
        if any(row[width - 1] != default and row[width - 1] != [] for row in rows):
            break
        width -= 1
    return width


def read_table(kind: type[Any], table: Table) -> tuple[Any, ...]:
    """The values of a table."""
    names, rows = table[_NAMES], table[_ROWS]
    if kind is Record:
        readers = [(place, _RECORD_READERS[name]) for place, name in enumerate(names) if name in _RECORD_READERS]
        for row in rows:
            for place, reader in readers:
                row[place] = reader(row[place])
    width = len(names)
    if tuple(names) == _COLUMNS[kind][:width]:
        make = getattr(kind, "_make", None)
        if make is None:
            return tuple(starmap(kind, rows))
        # A named tuple is made of a whole row, which needs no call of its own.
        rest = _DEFAULTS[kind][width:]
        return tuple(map(make, [(*row, *rest) for row in rows] if rest else rows))
    return tuple([kind(**dict(zip(names, row, strict=True))) for row in rows])

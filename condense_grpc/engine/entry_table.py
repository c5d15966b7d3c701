"""Records, refs and marks of one entry, written down as a table: columns with a cell for each of them.

Most of what is decided are thousands of these. A column is a member of the class, or one of the source of a record;
where all cells are the same only one is written, and none where they are what the class has by default. So a table is
read column by column, and the values are made of whole rows. The first tables were rows of cells, which are still
read. Whatever msgpack text cannot hold is no table's matter: its entry is written by members.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import partial
from itertools import repeat
from operator import attrgetter
from typing import Any

from condense_grpc.domain.batches import Record, Ref, Source
from condense_grpc.domain.entries import ArchivedRef, SkippedCall
from condense_grpc.engine.codec import read_part, write_part

Table = dict[str, Any]
Cells = Callable[[Any], Any]

_COUNT, _COLUMNS, _SAME = "count", "columns", "same"
# Of tables that are rows.
_NAMES, _ROWS = "names", "rows"
# What a record need not hold when it names its stored messages.
IN_MESSAGES = ("text", "args_json", "parts")


def members_of(kind: type[Any]) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """The names of the members of a dataclass or a named tuple, and their defaults (MISSING: none)."""
    if is_dataclass(kind):
        return tuple(one.name for one in fields(kind)), tuple(one.default for one in fields(kind))
    defaults: dict[str, Any] = kind._field_defaults
    return kind._fields, tuple(defaults.get(name, MISSING) for name in kind._fields)


_MEMBERS = {kind: dict(zip(*members_of(kind), strict=True)) for kind in (Record, Ref, SkippedCall, ArchivedRef)}
_CELLS = {kind: attrgetter(*members) for kind, members in _MEMBERS.items()}
_SOURCE = "source"
_OF_SOURCE = Source._fields
# How cells are written that msgpack does not take as they are, and how such cells are read.
_WRITERS: dict[str, Cells] = {"parts": lambda parts: [*map(write_part, parts)]}
_READERS: dict[str, Cells] = {
    "parts": lambda parts: tuple(map(read_part, parts)) if parts else (),
    "paths": tuple,
}


def write_table(kind: type[Any], values: Sequence[Any]) -> Table:
    """The table of values of one kind."""
    if len(values) == 1:
        return {_COUNT: 1, _COLUMNS: {}, _SAME: _cells_of(kind, values[0])}
    members = _MEMBERS[kind]
    columns: dict[str, Sequence[Any]] = dict(zip(members, zip(*map(_CELLS[kind], values), strict=True), strict=False))
    if kind is Record and values:
        columns = _without_bodies(columns)
    written: dict[str, Sequence[Any]] = {}
    same: dict[str, Any] = {}
    for name, cells in columns.items():
        first, writer = cells[0], _WRITERS.get(name)
        if cells.count(first) < len(cells):
            written[name] = cells if writer is None else [*map(writer, cells)]
        elif first != members.get(name, MISSING):
            same[name] = first if writer is None else writer(first)
    return {_COUNT: len(values), _COLUMNS: written, _SAME: same}


def _cells_of(kind: type[Any], value: Any) -> dict[str, Any]:
    """The cells of a table of a single value, as those of most batches are: what is not as it is by default."""
    members = _MEMBERS[kind].items()
    cells = {name: cell for (name, default), cell in zip(members, _CELLS[kind](value), strict=True) if cell != default}
    source = cells.pop(_SOURCE, None)
    if source is not None:
        for name in IN_MESSAGES:
            cells.pop(name, None)
        cells |= zip(_OF_SOURCE, source, strict=True)
    for name, writer in _WRITERS.items():
        if name in cells:
            cells[name] = writer(cells[name])
    return cells


def _without_bodies(columns: dict[str, Sequence[Any]]) -> dict[str, Sequence[Any]]:
    """The columns of records without what lies in stored messages. Their sources, if all have one, are columns too."""
    sources = columns[_SOURCE]
    for name in IN_MESSAGES:
        default = _MEMBERS[Record][name]
        pairs = zip(columns[name], sources, strict=True)
        columns[name] = tuple([cell if source is None else default for cell, source in pairs])
    if None not in sources:
        del columns[_SOURCE]
        columns |= zip(_OF_SOURCE, zip(*sources, strict=True), strict=True)
    return columns


def read_table(kind: type[Any], table: Table) -> tuple[Any, ...]:
    """The values of a table."""
    if _ROWS in table:
        return _read_rows(kind, table)
    count, members = table[_COUNT], _MEMBERS[kind]
    columns: dict[str, Iterable[Any]] = {name: repeat(cell, count) for name, cell in table[_SAME].items()}
    columns |= table[_COLUMNS]
    if kind is Record:
        if _OF_SOURCE[0] in columns:
            sources = zip(*[columns.pop(name) for name in _OF_SOURCE], strict=True)
            columns[_SOURCE] = map(_maker(Source), sources)
        elif _SOURCE in columns:
            columns[_SOURCE] = map(_read_source, columns[_SOURCE])
        columns |= {name: map(reader, columns[name]) for name, reader in _READERS.items() if name in columns}
    if not columns.keys() <= members.keys():
        raise ValueError("a table has columns that this version does not know")
    cells = [columns[name] if name in columns else repeat(default, count) for name, default in members.items()]
    return tuple(map(_maker(kind), zip(*cells, strict=True)))


def _read_source(cells: Sequence[int] | None) -> Source | None:
    return None if cells is None else Source._make(cells)


def _maker(kind: type[Any]) -> Callable[[Iterable[Any]], Any]:
    """What makes a value of all of its cells."""
    # The same as `_make`, in one step less: a load makes thousands.
    return partial(tuple.__new__, kind) if issubclass(kind, tuple) else (lambda cells: kind(*cells))


def _read_rows(kind: type[Any], table: Table) -> tuple[Any, ...]:
    """The values of a table that is rows. One of another version, with other columns, is read by name."""
    names, rows = table[_NAMES], table[_ROWS]
    if kind is Record:
        known = {**_READERS, _SOURCE: _read_source}
        readers = [(place, known[name]) for place, name in enumerate(names) if name in known]
        for row in rows:
            for place, reader in readers:
                row[place] = reader(row[place])
    return tuple([kind(**dict(zip(names, row, strict=True))) for row in rows])

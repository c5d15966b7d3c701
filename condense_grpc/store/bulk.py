"""Many rows in one statement, of whichever sessions.

At every step of a statement the driver gives the interpreter to other threads, and has to wait for it afterwards when
they are busy: what a transaction takes then is a matter of its steps, not of its rows. So the rows are one parameter
list, a table within the statement that names its sessions by their ids.

The text of a statement is made once for each power of two of rows; what is left of it is filled up with rows of no
session, which match nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Dialect,
    Insert,
    Subquery,
    Update,
    bindparam,
    column,
    select,
    values,
)

MOST_ROWS = 128
# The driver copies what a statement is given: large bodies go in statements of their own.
MOST_BYTES = 1024 * 1024


class Bulk:
    """A statement over a table of rows with these columns; the first one, the id of a session, decides what matches.

    `build` makes the statement for such a table. For one thread.
    """

    def __init__(self, columns: Sequence[Column[Any]], build: Callable[[Subquery], Insert | Update]) -> None:
        self._columns = columns
        self._build = build
        self._texts: dict[tuple[str, int], str] = {}

    def run(self, connection: Connection, rows: Iterable[Sequence[Any]]) -> int:
        """Run it for all rows, in their order; how many rows of the database were changed or added."""
        changed = 0
        for count, given in _parts(rows):
            size = 1 << (count - 1).bit_length()
            given += [None] * (size * len(self._columns) - len(given))
            changed += connection.exec_driver_sql(self._text(connection.dialect, size), tuple(given)).rowcount
        return changed

    def prepare(self, dialect: Dialect) -> None:
        """Make its text ahead for a dialect: it takes about as long as a transaction."""
        self._text(dialect, 1)

    def _text(self, dialect: Dialect, size: int) -> str:
        key = dialect.name, size
        if key not in self._texts:
            self._texts[key] = self._written(dialect, size)
        return self._texts[key]

    def _written(self, dialect: Dialect, size: int) -> str:
        if size == 1 or dialect.paramstyle != "qmark":
            return str(self._build(self._table(size)).compile(dialect=dialect))
        # Where parameters have no numbers all rows read alike, and one of them is soon compiled.
        row = f"({', '.join('?' * len(self._columns))})"
        return self._text(dialect, 1).replace(row, ", ".join([row] * size))

    def _table(self, size: int) -> Subquery:
        """A table of parameters. Where the statement begins with WITH the driver does not count what it changes."""
        names = [column(one.name, one.type) for one in self._columns]
        rows = [tuple(bindparam(None, type_=one.type, unique=True) for one in self._columns) for _ in range(size)]
        return select(values(*names, name="rows").data(rows).cte("rows", nesting=True)).subquery("given")


def _parts(rows: Iterable[Sequence[Any]]) -> Iterator[tuple[int, list[Any]]]:
    """What goes into one statement: how many rows, and all their values, one behind the other.

    No row is kept as such: thousands of them at a time would call for the garbage collector.
    """
    given: list[Any] = []
    count = size_bytes = 0
    for row in rows:
        row_bytes = sum([len(value) for value in row if type(value) is bytes])
        if count == MOST_ROWS or (count and size_bytes + row_bytes > MOST_BYTES):
            yield count, given
            given, count, size_bytes = [], 0, 0
        given += row
        count += 1
        size_bytes += row_bytes
    if count:
        yield count, given

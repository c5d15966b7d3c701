"""What an imported file holds besides messages and decisions, kept so that an export gives the file back.

Every line of the active branch has its place: it is a message of the transcript, it records a decision, or it stands
behind some message. The text of a message is not kept twice: its line is the text before it, the stored message, and
the text behind it. All lines of a file are packed into one entry, a few dozen bytes each.
"""

import zlib
from collections.abc import Sequence
from dataclasses import astuple

from condense_grpc.domain.entries import CarriedEntry
from condense_grpc.domain.frozen import frozen
from condense_grpc.engine.codec import as_text, pack, unpack
from condense_grpc.engine.decisions import Commit


@frozen
class CarriedLine:
    """One line. It is `head`, the text of the message `body_node` if that is not 0, and `tail`.

    `node`: the message of the transcript that the line is, or 0. Such a line stands where its message stands; every
    other one behind the first `anchor_length` messages, the last of which is `anchor_node`. `commit`: the decision
    that the line records, or 0. `is_compacted`: the line stands before a compaction of the host.
    """

    entry_id: str
    parent_id: str
    head: str
    tail: str = ""
    body_node: int = 0
    node: int = 0
    anchor_length: int = 0
    anchor_node: int = 0
    commit: int = 0
    is_compacted: bool = False


@frozen
class CarriedFile:
    """The lines of a file in their order, its header, and the id under which it was imported.

    `silent`: the messages with which a compacted transcript begins. They have no lines of their own: the lines before
    the compaction say them.
    """

    header: str
    session_id: str
    lines: Sequence[CarriedLine] = ()
    silent: Sequence[int] = ()


def pack_file(file: CarriedFile) -> CarriedEntry:
    """The entry of a file."""
    data = pack([list(file.silent), [list(astuple(line)) for line in file.lines]])
    return CarriedEntry(zlib.compress(data), file.header, file.session_id)


def unpack_file(entry: CarriedEntry) -> CarriedFile:
    """The file of an entry."""
    silent, lines = unpack(zlib.decompress(entry.packed))
    return CarriedFile(entry.header, entry.session_id, [_line(line) for line in lines], silent)


def carried_file(commits: Sequence[Commit]) -> CarriedFile | None:
    """What the file that a session was made of has brought along; None for other sessions."""
    entries = (entry for commit in commits[:1] for entry in commit.entries)
    found = next((entry for entry in entries if isinstance(entry, CarriedEntry)), None)
    return None if found is None else unpack_file(found)


def _line(fields: Sequence[object]) -> CarriedLine:
    return CarriedLine(*(as_text(value) if isinstance(value, bytes) else value for value in fields))  # type: ignore[arg-type]

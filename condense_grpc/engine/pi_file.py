"""A Pi session file as it arrives: pieces become lines, lines a tree, and the tree has one active branch.

The first line is the header. Every other line is an entry that names the one before it (`parentId`); the active
branch is the path to the last entry. Lines that cannot be read are counted and left out. An entry that names no
parent, or one that is not there, follows the entry above it, so that a damaged line does not cut the history off.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.json_spans import Member, members_of
from condense_grpc.errors import NativeJsonInvalid

_BYTE_ORDER_MARK = "\ufeff"
_SPACE = b" \t\r\n"


@frozen
class PiLine:
    """One entry. `number` counts the lines of the file from 1; `members` are those of its JSON object."""

    number: int
    text: str
    members: Mapping[str, Member]

    def value(self, name: str) -> Any:
        """The value of a member; None if there is none."""
        member = self.members.get(name)
        return None if member is None else member.value

    def raw(self, name: str) -> str:
        """The text of a member's value; empty if there is none."""
        member = self.members.get(name)
        return "" if member is None else self.text[member.start : member.end]

    def text_value(self, name: str) -> str:
        """The value of a member that is a string; empty for everything else."""
        value = self.value(name)
        return value if isinstance(value, str) else ""


@dataclass(slots=True)
class _Kept:
    """A line until the end of the file: its bytes, and where it stands in the tree."""

    number: int
    data: bytes
    entry_id: str
    parent_id: str | None
    has_parent: bool


class PiFile:
    """A file, and the files that it refers to. Fed by one caller after another, on whatever thread."""

    def __init__(self) -> None:
        self.header = ""
        self.header_id = ""
        self.unreadable_lines = 0
        self.files: dict[str, bytearray] = {}
        self._rest = bytearray()
        self._number = 0
        self._lines: list[_Kept] = []

    def add(self, chunk: bytes) -> None:
        """The next bytes, which may end anywhere. Raises NativeJsonInvalid when the file does not begin right."""
        pieces = chunk.split(b"\n")
        self._rest += pieces[0]
        for piece in pieces[1:]:
            line, self._rest = bytes(self._rest), bytearray(piece)
            self._take(line)

    def add_file(self, path: str, content: bytes) -> None:
        """The next bytes of a file to which entries refer by this path."""
        self.files.setdefault(path, bytearray()).extend(content)

    def finish(self) -> None:
        """There is no more. Raises NativeJsonInvalid when there was no header."""
        line, self._rest = bytes(self._rest), bytearray()
        self._take(line)
        if not self.header:
            raise _no_header()

    def _take(self, data: bytes) -> None:
        self._number += 1
        if not data.strip(_SPACE):
            return
        if not self.header:
            self._take_header(data)
            return
        line = _read(self._number, data)
        if line is None or line.value("type") == "session":
            self.unreadable_lines += 1
            return
        parent = line.value("parentId")
        has_parent = "parentId" in line.members and (parent is None or isinstance(parent, str))
        parent_id = parent if has_parent else None
        self._lines.append(_Kept(self._number, data, line.text_value("id"), parent_id, has_parent))

    def _take_header(self, data: bytes) -> None:
        line = _read(self._number, data)
        header_id = line.text_value("id") if line else ""
        if line is None or line.value("type") != "session" or not header_id:
            raise _no_header()
        self.header, self.header_id = line.text, header_id

    def active_path(self) -> list[PiLine]:
        """The entries of the active branch, the first one first. To be asked once: the lines are given away."""
        kept, self._lines = self._lines, []
        by_id = {line.entry_id: index for index, line in enumerate(kept) if line.entry_id}
        path: list[int] = []
        seen: set[int] = set()
        at = len(kept) - 1
        while at >= 0 and at not in seen:
            seen.add(at)
            path.append(at)
            line = kept[at]
            if line.has_parent and line.parent_id is None:
                break
            at = by_id.get(line.parent_id or "", at - 1)
        lines: list[PiLine] = []
        for index in reversed(path):
            found = _read(kept[index].number, kept[index].data)
            kept[index].data = b""
            if found is not None:
                lines.append(found)
        return lines


def _read(number: int, data: bytes) -> PiLine | None:
    """The entry of a line; None when it is none. Bytes that are no UTF-8 stay what they are."""
    text = data.decode("utf-8", "surrogateescape")
    if number == 1:
        text = text.removeprefix(_BYTE_ORDER_MARK)
    try:
        return PiLine(number, text, members_of(text))
    except (ValueError, RecursionError):
        return None


def _no_header() -> NativeJsonInvalid:
    message = "the file must begin with the header of a Pi session: a line with type session and an id"
    return NativeJsonInvalid("chunk", message, format="MESSAGE_FORMAT_PI", offset=0)

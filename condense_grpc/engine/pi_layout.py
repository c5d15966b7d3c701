"""The places of the entries of a Pi session file in the transcript that it gives.

The transcript is what the host would show: after a compaction of the host its summary, the messages that it has kept,
and what came later. What stood before is a branch that was left: nothing shows it, and nothing of it is lost.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from condense_grpc.domain.messages import Message
from condense_grpc.engine.arrival import Arrival, native_arrival, read_arrival
from condense_grpc.engine.carried import CarriedLine
from condense_grpc.engine.pi_entry import PiEntry, PiKind
from condense_grpc.engine.transcript import Transcript
from condense_grpc.native.formats import NativeFormat
from condense_grpc.native.json_read import RawElement, read_value
from condense_grpc.native.open_calls import OpenCalls
from condense_grpc.native.reading import read_messages

_SHOWN = (PiKind.MESSAGE, PiKind.SHOWN)


@dataclass(slots=True)
class Placed:
    """An entry with its place, as `CarriedLine` tells it. `commit` is set when the decision of the entry is made."""

    entry: PiEntry
    body_node: int = 0
    node: int = 0
    anchor_length: int = 0
    anchor_node: int = 0
    commit: int = 0
    is_compacted: bool = False

    def carried(self) -> CarriedLine:
        """The line of the entry, without the text of its message."""
        line = self.entry.line
        head, tail = line.text, ""
        if self.body_node:
            member = line.members["message"]
            head, tail = line.text[: member.start], line.text[member.end :]
        return CarriedLine(
            entry_id=self.entry.entry_id,
            parent_id=line.text_value("parentId"),
            head=head,
            tail=tail,
            body_node=self.body_node,
            node=self.node,
            anchor_length=self.anchor_length,
            anchor_node=self.anchor_node,
            commit=self.commit,
            is_compacted=self.is_compacted,
        )


class Layout:
    """The entries of one file, laid out.

    `transcript` holds the `messages`; `former` and `former_messages` are what stood before a compaction (None and
    nothing without one), and `silent` the nodes of the messages that the compaction has begun the transcript with.
    The transcript `is_native`, or holds messages of the contract.
    """

    def __init__(
        self, entries: Sequence[PiEntry], path_arguments: Sequence[str], now_ms: int, *, is_native: bool = False
    ) -> None:
        self.transcript = Transcript(path_arguments)
        self.messages: list[Message] = []
        self.placed: list[Placed] = []
        self.former: Transcript | None = None
        self.former_messages: list[Message] = []
        self.silent: list[int] = []
        self._now_ms = now_ms
        self._calls = OpenCalls() if is_native else None
        cut = max((at for at, one in enumerate(entries) if one.kind is PiKind.COMPACTION), default=-1)
        if cut >= 0:
            self._lay_out_history(entries[:cut], entries[cut])
        self._lay_out(entries[cut + 1 :])

    def _lay_out_history(self, before: Sequence[PiEntry], compaction: PiEntry) -> None:
        self._append(_messages(before))
        self.former, self.former_messages = self.transcript.copy(), self.messages
        nodes = iter(self.former.nodes)
        for one in before:
            node = next(nodes) if one.kind in _SHOWN else 0
            self.placed.append(Placed(one, body_node=self._body(one, node), is_compacted=True))
        self.placed.append(Placed(compaction, is_compacted=True))
        first_kept = compaction.line.text_value("firstKeptEntryId")
        kept = next((at for at, one in enumerate(before) if first_kept and one.entry_id == first_kept), len(before))
        summary = [compaction.message] if compaction.message else []
        self.messages = []
        self.transcript.rewind(0)
        self._append([*summary, *_messages(before[kept:])])
        self.silent = list(self.transcript.nodes)

    def _lay_out(self, later: Sequence[PiEntry]) -> None:
        length = len(self.transcript)
        self._append(_messages(later))
        for one in later:
            placed = Placed(one, anchor_length=length, anchor_node=self.transcript.node_at(length))
            if one.kind in _SHOWN:
                placed.node = self.transcript.nodes[length]
                placed.body_node = self._body(one, placed.node)
                length += 1
            self.placed.append(placed)

    def _append(self, messages: Sequence[Message]) -> None:
        for message in messages:
            arrival = self._arrival(message)
            self.transcript.take_in(len(self.transcript), [arrival], self._now_ms)
            self.messages.append(arrival.message)

    def _arrival(self, message: Message) -> Arrival:
        if self._calls is None:
            return read_arrival(message)
        text = _as_utf8(message.source_json)
        element = RawElement(text, read_value(text))
        [found] = read_messages(NativeFormat.PI, [element], len(self.transcript), self._calls)
        return native_arrival(found)

    def _body(self, entry: PiEntry, node: int) -> int:
        """The message that keeps the text of a line's message exactly; 0 if the line has to."""
        source = entry.message.source_json if entry.message and entry.kind is PiKind.MESSAGE else ""
        return node if source and (self._calls is None or _as_utf8(source) == source) else 0

    @property
    def message_count(self) -> int:
        """How many messages the branch of the file has."""
        return sum(one.entry.kind in _SHOWN for one in self.placed)


def _messages(entries: Sequence[PiEntry]) -> list[Message]:
    return [one.message for one in entries if one.message is not None and one.kind in _SHOWN]


def _as_utf8(text: str) -> str:
    """A text of a file as UTF-8 that everyone can read."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")

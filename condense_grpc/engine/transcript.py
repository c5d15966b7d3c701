"""The transcript of a session: the messages on its active path, and those of branches that were left.

Every message has a node number that never changes and a rolling digest that covers it and everything before it. A
branch that was left stays here by digest, so that coming back to it finds its nodes, and with them its decisions.
"""

import copy
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace

from condense_grpc.domain.messages import Message, Role
from condense_grpc.domain.occurrence import Numbering, occurrence_key
from condense_grpc.domain.skeleton import MessageSkeleton, skeleton_of
from condense_grpc.engine.codec import decode_skeleton, encode_message, encode_skeleton
from condense_grpc.engine.digest import START, etag_of, next_digest
from condense_grpc.engine.ports import StoredMessage
from condense_grpc.errors import TranscriptMismatch

# The years 1 to 9999. A time outside of them is no time: it counts as absent.
_FIRST_MS = -62_135_596_800_000
_LAST_MS = 253_402_300_799_999


@dataclass(frozen=True, slots=True)
class Extension:
    """What an append did: the length before which nothing changed, and whether a branch was left there."""

    kept_length: int
    rewound: bool


class Transcript:
    """The messages of one session. Owned by it; changed only while its lock is held."""

    def __init__(self, path_arguments: Sequence[str]) -> None:
        self.path_arguments = tuple(path_arguments)
        self.nodes: list[int] = []
        self.digests: list[bytes] = []
        self.skeletons: list[MessageSkeleton] = []
        self.keys: list[str] = []
        self.numbers: list[int | None] = []
        self.unwritten: dict[int, StoredMessage] = {}
        self.unwritten_bytes = 0
        self.next_node = 1
        self._latest_ms = _FIRST_MS - 1
        self._numbering = Numbering()
        self._left: dict[bytes, StoredMessage] = {}

    @classmethod
    def load(cls, messages: Sequence[StoredMessage], head_node: int, path_arguments: Sequence[str]) -> "Transcript":
        """The transcript that ends with `head_node`; everything else is a branch that was left."""
        transcript = cls(path_arguments)
        by_node = {message.node: message for message in messages}
        path: list[StoredMessage] = []
        node = head_node
        while node:
            path.append(by_node.pop(node))
            node = path[-1].parent
        for message in reversed(path):
            transcript._push(message.node, message.digest, decode_skeleton(message.skeleton, message.timestamp_ms))
        transcript._left = {message.digest: message for message in by_node.values()}
        for message in messages:
            transcript._count(message.node, message.timestamp_ms)
        return transcript

    def copy(self) -> "Transcript":
        """A transcript of its own with the same messages."""
        twin = copy.copy(self)
        twin.nodes, twin.digests, twin.skeletons = [*self.nodes], [*self.digests], [*self.skeletons]
        twin.keys, twin.numbers = [*self.keys], [*self.numbers]
        twin.unwritten, twin._left = {**self.unwritten}, {**self._left}
        twin._numbering = copy.deepcopy(self._numbering)
        return twin

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def etag(self) -> str:
        """The etag of the whole transcript."""
        return etag_of(self.digest_at(len(self)))

    @property
    def head_node(self) -> int:
        """The last node; 0 for an empty transcript."""
        return self.node_at(len(self))

    def node_at(self, length: int) -> int:
        """The last of the first `length` nodes; 0 for none."""
        return self.nodes[length - 1] if length else 0

    def digest_at(self, length: int) -> bytes:
        """The digest after the first `length` messages."""
        return self.digests[length - 1] if length else START

    def has_node(self, node: int) -> bool:
        """Whether a node is on the active path. Numbers grow along every path."""
        position = bisect_left(self.nodes, node)
        return position < len(self) and self.nodes[position] == node

    def check_base(self, length: int, etag: str) -> None:
        """Raise TranscriptMismatch unless these are our first `length` messages (an empty etag trusts the length)."""
        if not 0 <= length <= len(self) or (etag and etag != etag_of(self.digest_at(length))):
            raise TranscriptMismatch(length, len(self), self.etag)

    def extend(self, base_length: int, messages: Sequence[Message], now_ms: int) -> Extension:
        """Make the transcript the first `base_length` messages and these ones.

        What is there already is kept; the first message that differs ends the old branch there.
        """
        position, length = base_length, len(self)
        previous = self.digest_at(base_length)
        given = [_with_possible_time(message) for message in messages]
        bodies = [encode_message(message) for message in given]
        index = 0
        while index < len(bodies) and position < length:
            digest = next_digest(previous, bodies[index])
            if digest != self.digests[position]:
                break
            previous, position, index = digest, position + 1, index + 1
        rewound = position < length
        if rewound:
            self.rewind(position)
        for message, body in zip(given[index:], bodies[index:], strict=True):
            previous = next_digest(previous, body)
            self._append(message, body, previous, now_ms)
        return Extension(position, rewound)

    def _append(self, message: Message, body: bytes, digest: bytes, now_ms: int) -> None:
        known = self._left.pop(digest, None)
        if known is not None:
            self._push(known.node, digest, decode_skeleton(known.skeleton, known.timestamp_ms))
            return
        given = message.timestamp_ms
        time_ms = max(now_ms, self._latest_ms + 1) if given is None else given
        stamped = message if given is not None else replace(message, timestamp_ms=time_ms)
        skeleton = skeleton_of(stamped, self.path_arguments)
        node = self.next_node
        stored = StoredMessage(node, self.head_node, len(self), digest, time_ms, encode_skeleton(skeleton), body)
        self.unwritten[node] = stored
        self.unwritten_bytes += len(body)
        self._count(node, time_ms)
        self._push(node, digest, skeleton)

    def _count(self, node: int, time_ms: int) -> None:
        """Take a node number and a time, which count for every branch."""
        self.next_node = max(self.next_node, node + 1)
        self._latest_ms = max(self._latest_ms, time_ms)

    def _push(self, node: int, digest: bytes, skeleton: MessageSkeleton) -> None:
        self.nodes.append(node)
        self.digests.append(digest)
        self.skeletons.append(skeleton)
        number = self._number(skeleton)
        is_result = skeleton.role is Role.TOOL_RESULT
        self.keys.append(occurrence_key(skeleton.tool_call_id, skeleton.timestamp_ms, number) if is_result else "")
        self.numbers.append(number)

    def _number(self, skeleton: MessageSkeleton) -> int | None:
        if skeleton.role is not Role.TOOL_RESULT:
            return None
        return self._numbering.take(skeleton.tool_call_id, skeleton.timestamp_ms)

    def rewind(self, length: int) -> None:
        """Leave everything behind the first `length` messages."""
        for position in range(length, len(self)):
            skeleton = self.skeletons[position]
            self._left[self.digests[position]] = StoredMessage(
                self.nodes[position],
                self.node_at(position),
                position,
                self.digests[position],
                skeleton.timestamp_ms or 0,
                encode_skeleton(skeleton),
            )
        for column in (self.nodes, self.digests, self.skeletons, self.keys, self.numbers):
            del column[length:]
        self._numbering = Numbering()
        for skeleton in self.skeletons:
            self._number(skeleton)

    def written(self, messages: Sequence[StoredMessage]) -> None:
        """The store has these messages now."""
        for message in messages:
            del self.unwritten[message.node]
            self.unwritten_bytes -= len(message.body)


def _with_possible_time(message: Message) -> Message:
    time_ms = message.timestamp_ms
    if time_ms is None or _FIRST_MS <= time_ms <= _LAST_MS:
        return message
    return replace(message, timestamp_ms=None)

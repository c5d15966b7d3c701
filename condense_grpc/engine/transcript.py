"""The transcript of a session: the messages on its active path, and those of branches that were left.

Every message has a node number that never changes and a rolling digest that covers it and everything before it. A
branch that was left stays here by digest, so that coming back to it finds its nodes, and with them its decisions. A
fork has single messages of other branches, for their originals: nothing ever comes back to these.
"""

import copy
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import accumulate, chain

from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.messages import TOOL_RESULT, Message
from condense_grpc.domain.occurrence import Numbering
from condense_grpc.domain.skeleton import MessageSkeleton, skeleton_of
from condense_grpc.engine.arrival import FIRST_MS, Arrival, typed_arrival
from condense_grpc.engine.codec import decode_skeleton, decode_skeletons, encode_skeleton
from condense_grpc.engine.digest import START, digest_after, etag_of
from condense_grpc.engine.ports import StoredMessage
from condense_grpc.engine.recognition import Recollection, SentPrints
from condense_grpc.errors import TranscriptMismatch

# So many messages are searched for one by one: mostly they are among the last.
_FEW_DIGESTS = 16


@frozen
class Extension:
    """What an append did: the length before which nothing changed, and whether a branch was left there."""

    kept_length: int
    rewound: bool


class Transcript:
    """The messages of one session. Owned by it; changed only while its lock is held.

    Clients count in elements of their own history, here everything counts in messages. The two differ only in some
    shapes of providers; `ends` says how many elements there are up to and with each message. `restyled` holds bodies
    and skeletons of stored messages that came again in other bytes that mean the same.
    """

    def __init__(self, path_arguments: Sequence[str]) -> None:
        self.path_arguments = tuple(path_arguments)
        self.nodes: list[int] = []
        self.digests: list[bytes] = []
        self.skeletons: list[MessageSkeleton] = []
        self.keys: list[str] = []
        self.numbers: list[int | None] = []
        self.ends: list[int] = []
        self.wide_chars = 0
        """How many of its characters are of scripts in which a character is about a token."""
        self.unwritten: dict[int, StoredMessage] = {}
        self._unencoded: dict[int, MessageSkeleton] = {}
        self.unwritten_bytes = 0
        self.restyled: dict[int, tuple[bytes, bytes]] = {}
        self.reskeletoned: dict[int, bytes] = {}
        self.next_node = 1
        self._sent = Recollection(SentPrints(0, b""), self.digests)
        self.restyles = 0
        """How often a message has come again in other bytes."""
        self._latest_ms = FIRST_MS - 1
        self._numbering = Numbering()
        self._left: dict[bytes, StoredMessage] = {}
        self._beside: dict[int, StoredMessage] = {}

    @classmethod
    def load(cls, messages: Sequence[StoredMessage], head_node: int, path_arguments: Sequence[str]) -> "Transcript":
        """The transcript that ends with `head_node`; everything else is a branch that was left."""
        transcript = cls(path_arguments)
        path, left = _path_to(head_node, messages)
        if path:
            nodes, _, _, digests, times_ms, skeletons, _ = zip(*path, strict=True)
            transcript.nodes, transcript.digests = [*nodes], [*digests]
            transcript.skeletons = decode_skeletons(skeletons, times_ms)
            transcript._name_all()
        if left:
            transcript._leave(left)
        transcript.next_node = max([message.node for message in messages], default=0) + 1
        transcript._latest_ms = max([message.timestamp_ms for message in messages], default=transcript._latest_ms)
        return transcript

    def _leave(self, messages: Iterable[StoredMessage]) -> None:
        """Take in what is not on the active path, in the order of their nodes."""
        known = {0, *self.nodes}
        for message in messages:
            if message.parent in known:
                known.add(message.node)
                self._left[message.digest] = message
            else:
                self._beside[message.node] = message

    def copy(self) -> "Transcript":
        """A transcript of its own with the same messages."""
        twin = copy.copy(self)
        twin.nodes, twin.digests, twin.skeletons = [*self.nodes], [*self.digests], [*self.skeletons]
        twin.keys, twin.numbers, twin.ends = [*self.keys], [*self.numbers], [*self.ends]
        twin.unwritten, twin._left, twin.restyled = {**self.unwritten}, {**self._left}, {**self.restyled}
        twin._unencoded, twin._beside = {**self._unencoded}, {**self._beside}
        twin.reskeletoned = {**self.reskeletoned}
        twin._numbering = copy.deepcopy(self._numbering)
        return twin

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def etag(self) -> str:
        """The etag of the whole transcript."""
        return etag_of(self.digests[-1] if self.digests else START)

    @property
    def head_node(self) -> int:
        """The last node; 0 for an empty transcript."""
        return self.nodes[-1] if self.nodes else 0

    def node_at(self, length: int) -> int:
        """The last of the first `length` nodes; 0 for none."""
        return self.nodes[length - 1] if length else 0

    def digest_at(self, length: int) -> bytes:
        """The digest after the first `length` messages."""
        return self.digests[length - 1] if length else START

    def has_digest(self, length: int, digest: bytes) -> bool:
        """Whether this is the digest after the first `length` messages."""
        return length <= len(self) and self.digest_at(length) == digest

    def has_node(self, node: int) -> bool:
        """Whether a node is on the active path. Numbers grow along every path."""
        position = bisect_left(self.nodes, node)
        return position < len(self) and self.nodes[position] == node

    def find_digest(self, digest: str) -> int | None:
        """The position of the message with this digest (hex); late ones are found sooner."""
        wanted = bytes.fromhex(digest)
        return next((at for at in range(len(self) - 1, -1, -1) if self.digests[at] == wanted), None)

    def find_digests(self, digests: Collection[str]) -> dict[str, int]:
        """The positions of the messages with these digests (hex). Many are found in one walk through all messages."""
        if len(digests) > _FEW_DIGESTS:
            wanted = {bytes.fromhex(digest): digest for digest in digests}
            return {wanted[digest]: at for at, digest in enumerate(self.digests) if digest in wanted}
        found = {digest: self.find_digest(digest) for digest in digests}
        return {digest: at for digest, at in found.items() if at is not None}

    @property
    def element_count(self) -> int:
        """How long the client's history is."""
        return self.ends[-1] if self.ends else 0

    def elements_before(self, position: int) -> int:
        """How many elements the first `position` messages are."""
        return self.ends[position - 1] if position else 0

    def place_of(self, element_count: int) -> tuple[int, int]:
        """The messages that so many elements are, and how many elements of the next message come on top."""
        if element_count == self.element_count:
            return len(self), 0  # What nearly every delta asks; the search would go all over a long list.
        position = bisect_right(self.ends, element_count)
        return position, element_count - self.elements_before(position)

    def recollect(self) -> Recollection:
        """How its messages were sent. May be asked for by any thread at any time."""
        return self._sent

    def remember_sent(self, prints: SentPrints) -> None:
        """Its messages from a position on were sent like this."""
        self._sent = Recollection(prints, self.digests)

    def check_base(self, length: int, etag: str) -> int:
        """The messages that `length` elements are; these must end a message.

        Raises TranscriptMismatch unless they are ours (an empty etag trusts the length).
        """
        position, inside = self.place_of(max(length, 0))
        if length < 0 or inside or (etag and etag != etag_of(self.digest_at(position))):
            raise self.mismatch(length)
        return position

    def mismatch(self, length: int) -> TranscriptMismatch:
        """What to tell a client whose base of `length` elements is not ours."""
        return TranscriptMismatch(length, self.element_count, self.etag)

    def extend(self, base_length: int, messages: Sequence[Message], now_ms: int) -> Extension:
        """The same as `take_in` for messages of the contract."""
        return self.take_in(base_length, [typed_arrival(message) for message in messages], now_ms)

    def take_in(self, base_length: int, arrivals: Sequence[Arrival], now_ms: int) -> Extension:
        """Make the transcript the first `base_length` messages and these ones.

        What is there already is kept; the first message that differs ends the old branch there.
        """
        position, length, index = base_length, len(self), 0
        previous = self.digest_at(base_length)
        while index < len(arrivals) and position < length:
            digest = digest_after(previous, arrivals[index].keys)
            if digest != self.digests[position]:
                break
            self._restyle(position, arrivals[index])
            previous, position, index = digest, position + 1, index + 1
        rewound = position < length
        if rewound:
            self.rewind(position)
        for arrival in arrivals[index:]:
            previous = digest_after(previous, arrival.keys)
            self._append(arrival, previous, now_ms)
        return Extension(position, rewound)

    def _append(self, arrival: Arrival, digest: bytes, now_ms: int) -> None:
        known = self._left.pop(digest, None) if self._left else None
        if known is not None:
            self._push(known.node, digest, decode_skeleton(known.skeleton, known.timestamp_ms))
            self._restyle(len(self.nodes) - 1, arrival)
            return
        message = arrival.message
        given = message.timestamp_ms
        time_ms = max(now_ms, self._latest_ms + 1) if given is None else given
        skeleton = skeleton_of(message, self.path_arguments, time_ms)
        if arrival.span is not None:
            skeleton = skeleton._replace(native=arrival.span)
        node, body = self.next_node, arrival.body
        parent = self.nodes[-1] if self.nodes else 0
        self.unwritten[node] = StoredMessage(node, parent, len(self.nodes), digest, time_ms, b"", body)
        self._unencoded[node] = skeleton
        self.unwritten_bytes += len(body)
        self.next_node = node + 1  # node numbers and times count for every branch
        self._latest_ms = max(self._latest_ms, time_ms)
        self._push(node, digest, skeleton)

    def _restyle(self, position: int, arrival: Arrival) -> None:
        """Keep the bytes in which a message came last, if its shape has others for the same."""
        skeleton, node = self.skeletons[position], self.nodes[position]
        if skeleton.native == arrival.span:
            return
        self.restyles += 1
        self.skeletons[position] = skeleton = skeleton._replace(native=arrival.span)
        waiting = self.unwritten.get(node)
        if waiting is None:
            self.restyled[node] = (arrival.body, encode_skeleton(skeleton))
        else:
            self.unwritten[node], self._unencoded[node] = waiting._replace(body=arrival.body), skeleton
            self.unwritten_bytes += len(arrival.body) - len(waiting.body)

    def to_write(self) -> tuple[StoredMessage, ...]:
        """The messages that the store does not know. Only now their skeletons are encoded: no turn waits for that."""
        for node, skeleton in self._unencoded.items():
            self.unwritten[node] = self.unwritten[node]._replace(skeleton=encode_skeleton(skeleton))
        self._unencoded.clear()
        return tuple(self.unwritten.values())

    def resume(self, messages: Sequence[StoredMessage]) -> None:
        """Take in messages at its end that it knows of a branch, or that the store does not know: these have bodies."""
        for message in messages:
            if self._left.pop(message.digest, None) is None:
                self.unwritten[message.node] = message
                self.unwritten_bytes += len(message.body)
                self.next_node = max(self.next_node, message.node + 1)
                self._latest_ms = max(self._latest_ms, message.timestamp_ms)
            self._push(message.node, message.digest, decode_skeleton(message.skeleton, message.timestamp_ms))

    def stored(self) -> Iterable[StoredMessage]:
        """All messages, of every branch, that the store knows now, without bodies. They may be made in a thread."""
        nodes, digests, skeletons, unwritten = [*self.nodes], [*self.digests], [*self.skeletons], {*self.unwritten}
        others = [*self._left.values(), *self._beside.values()]
        left = [message for message in others if message.node not in unwritten]
        path = (_stored(at, nodes, digests, skeletons) for at, node in enumerate(nodes) if node not in unwritten)
        return chain(path, left)

    def waiting_body(self, node: int) -> bytes | None:
        """The body of a node as long as the store does not know it."""
        if node in self.restyled:
            return self.restyled[node][0]
        waiting = self.unwritten.get(node)
        return None if waiting is None else waiting.body

    def _push(self, node: int, digest: bytes, skeleton: MessageSkeleton) -> None:
        self.nodes.append(node)
        self.digests.append(digest)
        self.skeletons.append(skeleton)
        self._name(skeleton)

    def _name(self, skeleton: MessageSkeleton) -> None:
        """Give the next message its key, its number, and its end in the client's history."""
        key, number = "", None
        if skeleton.role is TOOL_RESULT:
            key, number = self._numbering.name(skeleton.tool_call_id, skeleton.timestamp_ms)
        self.keys.append(key)
        self.numbers.append(number)
        self.wide_chars += skeleton.wide_chars
        started = 1 if skeleton.native is None else skeleton.native.elements
        self.ends.append(self.ends[-1] + started if self.ends else started)

    def _name_all(self) -> None:
        """The same for all messages, none of which has them yet."""
        skeletons = self.skeletons
        results = [at for at, skeleton in enumerate(skeletons) if skeleton.role is TOOL_RESULT]
        self.keys, self.numbers = [""] * len(skeletons), [None] * len(skeletons)
        found = [(skeletons[at].tool_call_id, skeletons[at].timestamp_ms) for at in results]
        for at, key, number in zip(results, *self._numbering.name_all(found), strict=True):
            self.keys[at], self.numbers[at] = key, number
        self.wide_chars = sum([skeleton.wide_chars for skeleton in skeletons])
        started = [1 if skeleton.native is None else skeleton.native.elements for skeleton in skeletons]
        self.ends = [*accumulate(started)]

    def rewind(self, length: int) -> None:
        """Leave everything behind the first `length` messages."""
        for position in range(length, len(self)):
            self._left[self.digests[position]] = _stored(position, self.nodes, self.digests, self.skeletons)
        self.wide_chars -= sum(skeleton.wide_chars for skeleton in self.skeletons[length:])
        # New lists: whoever holds the old ones has what was left, and sees that the path is another one.
        self.nodes, self.digests, self.ends = self.nodes[:length], self.digests[:length], self.ends[:length]
        self.skeletons, self.keys, self.numbers = self.skeletons[:length], self.keys[:length], self.numbers[:length]
        # Whoever asks from another thread gets prints and digests of one path, also while it changes.
        self.remember_sent(self._sent.prints.until(length))
        self._numbering = Numbering()
        for skeleton in self.skeletons:
            if skeleton.role is TOOL_RESULT:
                self._numbering.take(skeleton.tool_call_id, skeleton.timestamp_ms)

    @property
    def left_count(self) -> int:
        """How many messages there are on branches that were left."""
        return len(self._left) + len(self._beside)

    def every_skeleton(self) -> dict[int, MessageSkeleton]:
        """The skeletons of all branches by node."""
        others = (*self._left.values(), *self._beside.values())
        left = {one.node: decode_skeleton(one.skeleton, one.timestamp_ms) for one in others}
        return left | dict(zip(self.nodes, self.skeletons, strict=True))

    def take_skeletons(self, skeletons: Mapping[int, MessageSkeleton]) -> None:
        """Put other skeletons in place of those of these nodes, on whatever branch. Everything must be written."""
        encoded = {node: encode_skeleton(skeleton) for node, skeleton in skeletons.items()}
        for position, node in enumerate(self.nodes):
            self.skeletons[position] = skeletons.get(node, self.skeletons[position])
        self.wide_chars = sum(skeleton.wide_chars for skeleton in self.skeletons)
        for digest, left in self._left.items():
            self._left[digest] = left._replace(skeleton=encoded.get(left.node, left.skeleton))
        for node, beside in self._beside.items():
            self._beside[node] = beside._replace(skeleton=encoded.get(node, beside.skeleton))
        self.reskeletoned |= encoded

    def written(self, messages: Sequence[StoredMessage]) -> None:
        """The store has these messages now, and everything that was changed."""
        for message in messages:
            del self.unwritten[message.node]
            self.unwritten_bytes -= len(message.body)
        self.restyled.clear()
        self.reskeletoned.clear()


def _stored(
    position: int, nodes: Sequence[int], digests: Sequence[bytes], skeletons: Sequence[MessageSkeleton]
) -> StoredMessage:
    """A message of a path without its body."""
    skeleton, parent = skeletons[position], nodes[position - 1] if position else 0
    time_ms = skeleton.timestamp_ms or 0
    return StoredMessage(nodes[position], parent, position, digests[position], time_ms, encode_skeleton(skeleton))


def _path_to(
    head_node: int, messages: Sequence[StoredMessage]
) -> tuple[Sequence[StoredMessage], Collection[StoredMessage]]:
    """The messages that lead to a node, and all others."""
    parent, is_path = 0, True
    for message in messages:
        if message.parent != parent:
            is_path = False
            break
        parent = message.node
    if is_path and parent == head_node:
        return messages, ()  # as it is when no branch was ever left
    by_node = {message.node: message for message in messages}
    path = path_to(head_node, by_node)
    for message in path:
        del by_node[message.node]
    return path, by_node.values()


def path_to(head_node: int, by_node: Mapping[int, StoredMessage]) -> list[StoredMessage]:
    """The messages that lead to a node, in order."""
    path: list[StoredMessage] = []
    node = head_node
    while node:
        path.append(by_node[node])
        node = path[-1].parent
    path.reverse()
    return path

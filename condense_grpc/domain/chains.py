"""Chains: from a user message to the text-only answer, with the tool work between them.

Everything here works on one list in the order it is given; positions are indexes into it. A chain that a user
interrupted has no final message and is never compressed; one that is still running is not a chain yet.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from condense_grpc.domain.entries import ChainEntry
from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.messages import ASSISTANT, TOOL_RESULT, USER, Message, Role
from condense_grpc.domain.occurrence import parse_key
from condense_grpc.domain.protection import Protection
from condense_grpc.domain.skeleton import MessageSkeleton

RECOVERY_TOOL = "context_tree_query"


@frozen
class Chain:
    """One piece of finished (or interrupted: `final` None) work. Ids and keys are distinct, in first-seen order.

    The middle ids belong to calls and results, the middle keys to results alone.
    """

    start: int
    final: int | None
    start_user_timestamp_ms: int | None
    final_assistant_timestamp_ms: int | None
    middle_tool_call_ids: tuple[str, ...] = ()
    middle_occurrence_keys: tuple[str, ...] = ()
    protected_tool_call_ids: tuple[str, ...] = ()

    @property
    def lookup_keys(self) -> tuple[str, ...]:
        """What stands for the chain in the index: its keys, or its ids if none of its calls was answered."""
        return self.middle_occurrence_keys or self.middle_tool_call_ids


def never(_position: int) -> bool:
    """No message is one of our own blocks."""
    return False


@dataclass(slots=True)
class _OpenChain:
    """A chain while it is being read; the dicts are ordered sets."""

    start: int
    timestamp_ms: int | None
    ids: dict[str, None] = field(default_factory=dict)
    keys: dict[str, None] = field(default_factory=dict)
    protected: dict[str, None] = field(default_factory=dict)

    def take_calls(self, message: MessageSkeleton, protection: Protection) -> None:
        for call in message.calls:
            self.ids[call.id] = None
            if protection.call(call.name, call.paths):
                self.protected[call.id] = None

    def take_result(self, message: MessageSkeleton, key: str, protection: Protection) -> None:
        self.ids[message.tool_call_id] = None
        self.keys[key] = None
        if protection.tool(message.tool_name):
            self.protected[message.tool_call_id] = None

    def close(self, final: int | None, timestamp_ms: int | None) -> Chain:
        return Chain(
            start=self.start,
            final=final,
            start_user_timestamp_ms=self.timestamp_ms,
            final_assistant_timestamp_ms=timestamp_ms,
            middle_tool_call_ids=tuple(self.ids),
            middle_occurrence_keys=tuple(self.keys),
            protected_tool_call_ids=tuple(self.protected),
        )


def detect_chains(
    messages: Sequence[MessageSkeleton],
    keys: Sequence[str],
    protection: Protection,
    is_own_block: Callable[[int], bool] = never,
) -> list[Chain]:
    """The chains of a list, in order. `keys` are the occurrence keys by position.

    Blocks of ours are ignored completely: they neither open a chain nor interrupt one.
    """
    chains: list[Chain] = []
    running: _OpenChain | None = None
    for position, message in enumerate(messages):
        role = message.role
        if role is USER:
            if is_own_block(position):
                continue
            if running:
                chains.append(running.close(None, None))
            running = _OpenChain(position, message.timestamp_ms)
        elif running is None:
            continue
        elif role is TOOL_RESULT:
            running.take_result(message, keys[position], protection)
        elif role is ASSISTANT:
            if message.calls:
                running.take_calls(message, protection)
            else:
                chains.append(running.close(position, message.timestamp_ms))
                running = None
    return chains


class _Stamped(Protocol):
    """What the closing message is recognised by."""

    @property
    def role(self) -> Role: ...

    @property
    def timestamp_ms(self) -> int | None: ...


_StampedT = TypeVar("_StampedT", bound=_Stamped)


def with_closing_message(messages: Sequence[_StampedT], closing: _StampedT | None) -> list[_StampedT]:
    """A copy that ends with the announced message, unless the last stored one has its role and timestamp."""
    if closing is None or (messages and _identity(messages[-1]) == _identity(closing)):
        return list(messages)
    return [*messages, closing]


def _identity(message: _Stamped) -> tuple[Role, str, int | None]:
    written = message.custom_role if isinstance(message, Message) else ""
    return message.role, written, message.timestamp_ms


def in_grace(messages: Sequence[MessageSkeleton], keys: Sequence[str], grace_turns: int) -> dict[str, None]:
    """Keys of recovered outputs (an ordered set) that are at most `grace_turns` user messages old."""
    users = sum(message.role is USER for message in messages)
    found: dict[str, None] = {}
    if grace_turns <= 0:
        return found
    before = 0
    for message, key in zip(messages, keys, strict=True):
        if message.role is USER:
            before += 1
        elif message.tool_name == RECOVERY_TOOL and users - before <= grace_turns:
            found[key] = None
    return found


def select_eligible(
    chains: Sequence[Chain],
    rolling_window: int,
    is_registered: Callable[[Chain], bool],
    grace: Collection[str] = (),
    pending: Collection[str] = (),
) -> list[Chain]:
    """The chains to compress: closed, not yet compressed, with tool work, and behind the rolling window.

    Chains that touch a key in grace or one that waits for the next flush drop out afterwards: they do not
    make room in the window.
    """
    candidates = [
        chain for chain in chains if chain.final is not None and chain.middle_tool_call_ids and not is_registered(chain)
    ]
    taken = candidates[: max(0, len(candidates) - max(0, rolling_window))]
    untimed = {key for key in grace if parse_key(key).result_timestamp_ms is None}
    return [
        chain
        for chain in taken
        if not any(key in pending or key in grace for key in chain.lookup_keys)
        and not (untimed and any(parse_key(key).tool_call_id in untimed for key in chain.lookup_keys))
    ]


class Boundaries:
    """Finds the range of a chain entry in one list; built once, asked for many entries. Immutable after that.

    `digests` maps the digest of a message to its position. Entries that carry digests are found by these, all
    others by timestamps, which must name exactly one user and one assistant message.
    """

    def __init__(self, messages: Sequence[MessageSkeleton], digests: Mapping[str, int] | None = None) -> None:
        self._digests = digests or None
        self._users: dict[int, int | None] = {}
        self._assistants: dict[int, int | None] = {}
        by_role = {USER: self._users, ASSISTANT: self._assistants}
        for position, message in enumerate(messages):
            places = by_role.get(message.role)
            time = message.timestamp_ms
            if places is not None and time is not None:
                places[time] = None if time in places else position

    def resolve(self, entry: ChainEntry) -> tuple[int, int] | None:
        """Positions of the start user message and of the final assistant message; None if they are not there."""
        if self._digests is None or not entry.start_digest:
            return self.between(entry.start_user_timestamp_ms, entry.final_assistant_timestamp_ms)
        return _span(self._digests.get(entry.start_digest), self._digests.get(entry.final_digest))

    def between(self, start_ms: int | None, final_ms: int | None) -> tuple[int, int] | None:
        """The same for two timestamps."""
        if start_ms is None or final_ms is None:
            return None
        return _span(self._users.get(start_ms), self._assistants.get(final_ms))


def _span(start: int | None, final: int | None) -> tuple[int, int] | None:
    return None if start is None or final is None or start >= final else (start, final)


def resolve_range(
    entry: ChainEntry, messages: Sequence[MessageSkeleton], digests: Mapping[str, int] | None = None
) -> tuple[int, int] | None:
    """The range of one entry; see `Boundaries`, which is to be preferred for several."""
    return Boundaries(messages, digests).resolve(entry)

"""The steps of a conversation with the server, and nothing of how they are carried out.

The logic of the client is written as generators that yield steps, receive their outcomes, and get failures thrown in
as `CondenseError`. Two small drivers carry the steps out, one blocking and one on asyncio, so that all logic exists
once and runs in tests without a network.
"""

from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from google.protobuf.message import Message as ProtoMessage

R = TypeVar("R")
Metadata: TypeAlias = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Send:
    """Makes a call with one answer, which is the outcome. Several requests are a client stream."""

    method: str
    request: ProtoMessage | Iterable[ProtoMessage]
    metadata: Metadata
    timeout_seconds: float | None


@dataclass(frozen=True, slots=True)
class Open:
    """Opens a server stream. The outcome is a handle for `Receive`; failures come with the first message."""

    method: str
    request: ProtoMessage
    metadata: Metadata
    timeout_seconds: float | None


@dataclass(frozen=True, slots=True)
class Receive:
    """Waits for the next message of a stream. The outcome is that message, or None at the end."""

    stream: Any


@dataclass(frozen=True, slots=True)
class Wait:
    """Lets time pass."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Emit:
    """Hands a value to whoever iterates."""

    value: Any


Step: TypeAlias = Send | Open | Receive | Wait | Emit
Steps: TypeAlias = Generator[Step, Any, R]


def once(step: Step) -> Steps[Any]:
    """A conversation of one step."""
    return (yield step)

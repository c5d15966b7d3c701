"""The view: what stands for the transcript in the next model call, element by element.

An element is a message of the input list, perhaps edited, or a block that was inserted. Sizes are code points of the
compact Pi JSON and are kept per element, never measured by writing the whole list.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from condense_grpc.domain.entries import ChainEntry
from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.json_text import value_chars
from condense_grpc.domain.messages import Message, Part, Role, TextPart
from condense_grpc.domain.pi_json import message_to_pi
from condense_grpc.domain.pi_size import plain_pi_size
from condense_grpc.domain.skeleton import MessageSkeleton, stub_chars


class StubReason(StrEnum):
    """Why a result was replaced."""

    SUMMARIZED = "summarized"
    SPILLED = "spilled"
    DUPLICATE = "duplicate"


@frozen
class Stub:
    """The text that stands for a result, and the ref that brings the result back."""

    text: str
    ref: str
    reason: StubReason


@frozen
class Block:
    """A compressed chain as the model sees it: a user message behind the one that opened the chain."""

    entry: ChainEntry
    text: str
    parts: tuple[Part, ...]

    def message(self) -> Message:
        """The block as a message."""
        return Message(Role.USER, (TextPart(self.text), *self.parts), self.entry.compressed_at_ms)


@dataclass(slots=True)
class Element:
    """One element of a view while it is made. `position` -1 for an inserted block."""

    position: int
    skeleton: MessageSkeleton
    key: str = ""
    number: int | None = None
    stub: Stub | None = None
    purged: dict[int, str] = field(default_factory=dict)
    stripped: bool = False
    block: Block | None = None

    @property
    def is_edited(self) -> bool:
        """Whether it differs from the message at its position."""
        return self.stub is not None or self.stripped or bool(self.purged)

    @property
    def json_chars(self) -> int:
        """Size of the element as it is shown."""
        if self.stub is not None:
            return stub_chars(self.skeleton, self.stub.text)
        chars = self.skeleton.json_chars
        if self.stripped and self.skeleton.thinking:
            chars -= self.skeleton.thinking.strip_chars
        for ordinal, text in self.purged.items():
            chars += len(text) - self.skeleton.calls[ordinal].args_json_chars
        return chars


def block_element(block: Block) -> Element:
    """The element of an inserted block."""
    message = block.message()
    size = plain_pi_size(message, message.timestamp_ms, ())
    chars = value_chars(message_to_pi(message)) if size is None else size[0]
    return Element(-1, MessageSkeleton(Role.USER, message.timestamp_ms, chars), block=block)


@frozen
class Diagnostic:
    """Something that a render or a compression noticed; (kind, key) counts once in a session."""

    kind: str
    key: str
    detail: str


@frozen
class View:
    """The result of a render. Without any difference from the input `pruned` is false and both sizes are 0."""

    elements: tuple[Element, ...]
    pruned: bool
    before_chars: int
    after_chars: int
    diagnostics: tuple[Diagnostic, ...]
    swept: int = 0


def list_chars(elements: Sequence[Element]) -> int:
    """Size of a message list: what its compact JSON would measure."""
    return chars_of_list(len(elements), sum(element.json_chars for element in elements))


def chars_of_list(count: int, total: int) -> int:
    """Size of a list of so many messages that together have so many characters."""
    return total + count + 1 if count else 2

"""What every shape can do: cut a history into messages, read them, and write what of them changes.

A *carrier* is the JSON text that holds one result or one call: the element itself, or the part of an element that
holds several. Changing a carrier touches the members that must change and nothing around them. Carriers and elements
are known to be JSON objects when they come here. Shapes hold no state and may be shared.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from condense_grpc.domain.messages import Message, Role
from condense_grpc.native.formats import NativeFormat
from condense_grpc.native.json_read import RawElement
from condense_grpc.native.open_calls import OpenCalls
from condense_grpc.native.unit import Facts, Json, Unit


class Shape(ABC):
    """The shape of one provider."""

    format: ClassVar[NativeFormat]
    has_cache_marks: ClassVar[bool] = False
    """Hosts move `cache_control` about: it says how to send an element, not what is in it."""

    # Reading

    def units(self, elements: Iterable[RawElement]) -> Iterator[Unit]:
        """The messages that elements are. Every element is one, unless a shape says otherwise."""
        for element in elements:
            yield Unit((element.text,), (element.value,))

    def cache_marks(self, value: Json) -> int:
        """How many places in an element ask the provider to cache, where it takes only so many."""
        return 0

    def late_tools(self, values: Sequence[Json]) -> tuple[bool, bool]:
        """Whether an answer of the model asks, unseen by us, for something that is not answered in it, and whether
        it answers what was asked so earlier.
        """
        return False, False

    @abstractmethod
    def message(self, values: Sequence[Json], *, is_fragment: bool = False) -> Message:
        """The message that elements, or the parts of a fragment, are. Never fails."""

    def facts(self, message: Message, element_index: int, calls: OpenCalls) -> Facts:
        """What follows from the messages before: by default the name of a result's tool."""
        if message.role is not Role.TOOL_RESULT or message.tool_name:
            return Facts()
        return Facts(calls.name_of(message.tool_call_id))

    # Writing

    @abstractmethod
    def with_stub(self, carrier: str, text: str) -> str:
        """The result with `text` as its content and no error. One that can hold no text stays as it is."""

    @abstractmethod
    def with_arguments(self, carrier: str, call_index: int, arguments_json: str) -> str:
        """The `call_index`-th call of a carrier with other arguments, an object."""

    @abstractmethod
    def with_call_id(self, carrier: str, call_index: int, call_id: str) -> str:
        """The `call_index`-th call of a carrier, or the result that it is, with another id."""

    def without_thinking(self, element: str) -> str:
        """An element without its thinking; one whose thinking belongs to something else stays as it is."""
        return element

    @abstractmethod
    def inserted(self, message: Message) -> str:
        """A message of ours as an element."""

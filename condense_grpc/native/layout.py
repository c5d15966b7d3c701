"""Where the messages of a transcript lie among the elements of its host."""

from collections.abc import Sequence

from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.messages import Role
from condense_grpc.domain.skeleton import MessageSkeleton, NativeSpan


@frozen
class Layout:
    """A transcript in a provider's shape. `ends`: how many elements there are up to and with each message."""

    skeletons: Sequence[MessageSkeleton]
    ends: Sequence[int]

    @property
    def element_count(self) -> int:
        """How many elements there are."""
        return self.ends[-1] if self.ends else 0

    def span(self, position: int) -> NativeSpan:
        """The span of a message."""
        span = self.skeletons[position].native
        assert span is not None
        return span

    def first_element(self, position: int) -> int:
        """The element that a message is, or the first of those."""
        span = self.span(position)
        return self.ends[position] - max(span.elements, 1)

    def element_number(self, position: int) -> int:
        """How many elements a message is: one, unless they are several."""
        return max(self.span(position).elements, 1)

    def is_alone(self, position: int) -> bool:
        """Whether a message is whole elements."""
        return self.span(position).parts is None

    def first_part(self, position: int) -> int:
        """The number of the first part that a message holds in its element."""
        count = 0
        while not self.span(position).elements:
            position -= 1
            count += self.span(position).parts or 0
        return count

    def positions_of(self, element: int, near: int) -> range:
        """The messages that an element is; `near` is one of them."""
        first = near
        while not self.span(first).elements:
            first -= 1
        last = near
        while last + 1 < len(self.skeletons) and not self.span(last + 1).elements:
            last += 1
        return range(first, last + 1)

    def is_result(self, position: int) -> bool:
        """Whether a message is a tool result."""
        return self.skeletons[position].role is Role.TOOL_RESULT

"""What the shapes share in which an element is a role and a list of parts: Anthropic's `content`, Gemini's `parts`.

A user element may hold tool results and other parts side by side. Each result is a message of its own, and so is each
run of other parts, so that results can be condensed one by one.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, ClassVar

from condense_grpc.domain.json_text import parse_or_text
from condense_grpc.domain.messages import Message
from condense_grpc.domain.text import is_blank
from condense_grpc.native.json_edit import with_member, written
from condense_grpc.native.json_read import RawElement
from condense_grpc.native.json_scan import Place, items_at, member_at
from condense_grpc.native.shape import Shape
from condense_grpc.native.unit import Json, Unit


class PartShape(Shape):
    """Elements of parts. Neighbours of one role belong together: the provider wants roles to alternate."""

    list_name: ClassVar[str]
    user_role: ClassVar[str] = "user"

    @abstractmethod
    def is_user(self, value: Json) -> bool:
        """Whether an element is the user's side, which results belong to."""

    @abstractmethod
    def is_result(self, part: Json) -> bool:
        """Whether a part is a tool result."""

    @abstractmethod
    def is_call(self, part: Json) -> bool:
        """Whether a part is a call that the host answers."""

    @abstractmethod
    def is_thinking(self, part: Json) -> bool:
        """Whether a part is thinking."""

    @abstractmethod
    def inserted_parts(self, message: Message) -> list[str]:
        """A message of ours as parts."""

    def units(self, elements: Iterable[RawElement]) -> Iterator[Unit]:
        """See Shape."""
        for element in elements:
            parts: Any = element.value.get(self.list_name)
            if not self.is_user(element.value) or not isinstance(parts, list) or not any(map(self._answers, parts)):
                yield Unit((element.text,), (element.value,))
            else:
                yield from self._fragments(element.text, parts)

    def _answers(self, part: Any) -> bool:
        return isinstance(part, dict) and self.is_result(part)

    def _fragments(self, text: str, parts: Sequence[Any]) -> Iterator[Unit]:
        places = self.places(text)
        runs = groupby(enumerate(parts), lambda entry: entry[0] if self._answers(entry[1]) else -1)
        done = 0
        for _, run in runs:
            first, *others = (index for index, _ in run)
            last = others[-1] if others else first
            start, end = places[first].start, places[last].end
            behind = text[end:] if last == len(parts) - 1 else ""
            yield Unit((text[done:start], text[start:end], behind), parts[first : last + 1], True, first == 0)
            done = end

    def places(self, element: str) -> list[Place]:
        """Where the parts of an element stand; a content that is one text has none."""
        found = member_at(element, self.list_name)
        return [] if found is None or element[found.start] != "[" else items_at(element, found.start)

    def part_texts(self, element: str) -> list[str]:
        """The parts of an element; a content that is one text is one part, or none when it is blank."""
        found = member_at(element, self.list_name)
        if found is not None and element[found.start] == '"':
            text = element[found.start : found.end]
            return [] if is_blank(str(parse_or_text(text))) else [self.text_part(text)]
        return [element[place.start : place.end] for place in self.places(element)]

    def framed(self, frame: str, parts: str) -> str:
        """An element with these parts instead of its own; the white space within its brackets stays."""
        found = member_at(frame, self.list_name)
        if found is None or frame[found.start] != "[":
            return with_member(frame, self.list_name, f"[{parts}]")
        places = items_at(frame, found.start)
        start = places[0].start if places else found.start + 1
        end = places[-1].end if places else found.end - 1
        return frame[:start] + parts + frame[end:]

    @abstractmethod
    def text_part(self, text_json: str) -> str:
        """A part that is a text, given as a JSON string."""

    def inserted(self, message: Message) -> str:
        """See Shape."""
        head = f'{{"role":{written(self.user_role)},{written(self.list_name)}:['
        return head + ",".join(self.inserted_parts(message)) + "]}"

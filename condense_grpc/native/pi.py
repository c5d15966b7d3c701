"""The messages of the Pi agent. What a stub and a block look like in this shape is part of the rules themselves."""

from collections.abc import Sequence

from condense_grpc.domain.messages import Message
from condense_grpc.domain.pi_json import message_from_pi, message_to_pi
from condense_grpc.native.formats import NativeFormat
from condense_grpc.native.json_edit import member_text, with_member, written
from condense_grpc.native.json_read import read_value
from condense_grpc.native.json_scan import Place, items_at, member_at
from condense_grpc.native.shape import Shape
from condense_grpc.native.unit import Json


class Pi(Shape):
    """One element is one message, with its time."""

    format = NativeFormat.PI

    def message(self, values: Sequence[Json], *, is_fragment: bool = False) -> Message:
        """See Shape."""
        return message_from_pi(values[0], keep_source=False)

    def with_stub(self, carrier: str, text: str) -> str:
        """A stub of the rules: id, name, text, no error, time, and no other member."""
        members = {name: member_text(carrier, name) for name in ("toolCallId", "toolName", "timestamp")}
        call_id, name = _string(members["toolCallId"]), _string(members["toolName"])
        time = "" if members["timestamp"] is None else f',"timestamp":{members["timestamp"]}'
        content = written([{"type": "text", "text": text}])
        head = f'{{"role":"toolResult","toolCallId":{call_id},"toolName":{name}'
        return f'{head},"content":{content},"isError":false{time}}}'

    def with_arguments(self, carrier: str, call_index: int, arguments_json: str) -> str:
        """See Shape."""
        place = self.call_places(carrier)[call_index]
        return self._changed(carrier, place, with_member(carrier[place.start : place.end], "arguments", arguments_json))

    def with_call_id(self, carrier: str, call_index: int, call_id: str) -> str:
        """See Shape."""
        if member_at(carrier, "toolCallId") is not None:
            return with_member(carrier, "toolCallId", written(call_id))
        place = self.call_places(carrier)[call_index]
        return self._changed(carrier, place, with_member(carrier[place.start : place.end], "id", written(call_id)))

    def without_thinking(self, element: str) -> str:
        """The content without its thinking blocks."""
        kept = [place for place, kind in self._blocks(element) if kind != "thinking"]
        return with_member(element, "content", "[" + ",".join(element[start:end] for start, end in kept) + "]")

    def call_places(self, element: str) -> list[Place]:
        """Where the tool calls of an element stand."""
        return [place for place, kind in self._blocks(element) if kind == "toolCall"]

    def _blocks(self, element: str) -> list[tuple[Place, object]]:
        content = member_at(element, "content")
        if content is None or element[content.start] != "[":
            return []
        found: list[tuple[Place, object]] = []
        for place in items_at(element, content.start):
            block = read_value(element[place.start : place.end])
            found.append((place, block.get("type") if isinstance(block, dict) else None))
        return found

    @staticmethod
    def _changed(element: str, place: Place, text: str) -> str:
        return element[: place.start] + text + element[place.end :]

    def inserted(self, message: Message) -> str:
        """See Shape."""
        return written(message_to_pi(message))


def _string(text: str | None) -> str:
    """A text that is a JSON string; the empty one for everything else."""
    return text if text is not None and text.startswith('"') else '""'

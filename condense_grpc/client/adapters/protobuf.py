"""Histories that are kept as messages of the contract itself."""

from condense_grpc.api.condense.v1.edit_pb2 import InsertKind
from condense_grpc.api.condense.v1.message_pb2 import Message, Part, TextPart, ToolResultMessage
from condense_grpc.client.adapters.base import MessageAdapter


class ProtobufAdapter(MessageAdapter[Message]):
    """An object is a `condense.v1.Message` and stands for itself."""

    def to_message(self, piece: Message) -> Message:
        """The message itself."""
        if not isinstance(piece, Message):
            raise TypeError("not a condense.v1.Message")
        return piece

    def from_message(self, message: Message, kind: "InsertKind.ValueType") -> Message:
        """The message itself."""
        return message

    def replace_result(self, piece: Message, text: str) -> Message:
        """A new result with the same id, name and time."""
        result = ToolResultMessage(
            tool_call_id=piece.tool_result.tool_call_id,
            tool_name=piece.tool_result.tool_name,
            parts=[Part(text=TextPart(text=text))],
        )
        stub = Message(tool_result=result)
        if piece.HasField("timestamp_ms"):
            stub.timestamp_ms = piece.timestamp_ms
        return stub

    def purge_arguments(self, piece: Message, call_index: int, arguments_json: str) -> Message:
        """A copy in which one call has other arguments."""
        edited = copy_of(piece)
        calls = [part.tool_call for part in edited.assistant.parts if part.HasField("tool_call")]
        calls[call_index].arguments_json = arguments_json
        return edited

    def strip_thinking(self, piece: Message) -> Message:
        """A copy without thinking parts."""
        edited = copy_of(piece)
        kept = [part for part in piece.assistant.parts if not part.HasField("thinking")]
        del edited.assistant.parts[:]
        edited.assistant.parts.extend(kept)
        return edited

    def snapshot(self, item: Message) -> object:
        """A copy: messages can be changed in place."""
        return copy_of(item)


def copy_of(message: Message) -> Message:
    """An independent copy."""
    copy = Message()
    copy.CopyFrom(message)
    return copy

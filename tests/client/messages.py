"""Short ways to write the messages and edits that tests need."""

from condense_grpc.api.condense.v1 import edit_pb2, message_pb2


def text(value: str) -> message_pb2.Part:
    return message_pb2.Part(text=message_pb2.TextPart(text=value))


def user(value: str, time_ms: int | None = None) -> message_pb2.Message:
    return message_pb2.Message(user=message_pb2.UserMessage(parts=[text(value)]), timestamp_ms=time_ms)


def answer(value: str) -> message_pb2.Message:
    return message_pb2.Message(assistant=message_pb2.AssistantMessage(parts=[text(value)]))


def calling(*ids: str) -> message_pb2.Message:
    calls = [message_pb2.ToolCallPart(id=it, name="read", arguments_json='{"path":"a"}') for it in ids]
    parts = [message_pb2.Part(tool_call=call) for call in calls]
    return message_pb2.Message(assistant=message_pb2.AssistantMessage(parts=parts))


def result(call_id: str, value: str) -> message_pb2.Message:
    body = message_pb2.ToolResultMessage(tool_call_id=call_id, tool_name="read", parts=[text(value)])
    return message_pb2.Message(tool_result=body)


def summary(value: str) -> message_pb2.Message:
    custom = message_pb2.CustomMessage(role="custom", custom_type="context-prune-summary", parts=[text(value)])
    return message_pb2.Message(custom=custom)


def stub(index: int, value: str = "stub") -> edit_pb2.Edit:
    return edit_pb2.Edit(message_index=index, replace_result=edit_pb2.ReplaceResult(text=value, ref="t1"))


def purge(index: int, call_index: int = 0) -> edit_pb2.Edit:
    change = edit_pb2.PurgeArguments(call_index=call_index, arguments_json='{"_purged":1}')
    return edit_pb2.Edit(message_index=index, purge_arguments=change)


def drop(index: int) -> edit_pb2.Edit:
    return edit_pb2.Edit(message_index=index, drop=edit_pb2.Drop())


def strip(index: int) -> edit_pb2.Edit:
    return edit_pb2.Edit(message_index=index, strip_thinking=edit_pb2.StripThinking())


def insert(index: int, message: message_pb2.Message) -> edit_pb2.Edit:
    change = edit_pb2.InsertAfter(message=message, kind=edit_pb2.INSERT_KIND_SUMMARY)
    return edit_pb2.Edit(message_index=index, insert_after=change)


def move(index: int, after: int) -> edit_pb2.Edit:
    return edit_pb2.Edit(message_index=index, move_after=edit_pb2.MoveAfter(after_index=after))


def turn(number: int = 1, size: int = 10) -> list[message_pb2.Message]:
    """A question, a call, its result, and an answer."""
    return [user(f"q{number}"), calling(f"c{number}"), result(f"c{number}", "x" * size), answer(f"a{number}")]

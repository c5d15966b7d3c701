"""The domain's messages and edits as those of the contract, for tests that take the domain as their reference."""

from condense_grpc.api.condense.v1 import edit_pb2, message_pb2
from condense_grpc.domain import edits as domain_edits
from condense_grpc.domain import messages as domain


def part_to_proto(part: domain.Part) -> message_pb2.Part:
    match part:
        case domain.TextPart():
            return message_pb2.Part(text=message_pb2.TextPart(text=part.text), extra_json=part.extra_json)
        case domain.ThinkingPart():
            thinking = message_pb2.ThinkingPart(text=part.text, signature=part.signature, redacted=part.redacted)
            return message_pb2.Part(thinking=thinking, extra_json=part.extra_json)
        case domain.ToolCallPart():
            arguments = part.arguments_json or ""
            call = message_pb2.ToolCallPart(id=part.id, name=part.name, arguments_json=arguments)
            return message_pb2.Part(tool_call=call, extra_json=part.extra_json)
        case domain.ImagePart():
            image = message_pb2.ImagePart(media_type=part.media_type)
            if part.data:
                image.data = part.data
            elif part.uri:
                image.uri = part.uri
            return message_pb2.Part(image=image, extra_json=part.extra_json)
        case domain.OpaquePart():
            return message_pb2.Part(opaque=message_pb2.OpaquePart(type=part.type, json=part.json))


def message_to_proto(message: domain.Message) -> message_pb2.Message:
    parts = [part_to_proto(part) for part in message.parts]
    proto = message_pb2.Message(timestamp_ms=message.timestamp_ms, extra_json=message.extra_json)
    match message.role:
        case domain.Role.USER:
            proto.user.CopyFrom(message_pb2.UserMessage(parts=parts))
        case domain.Role.ASSISTANT:
            proto.assistant.CopyFrom(message_pb2.AssistantMessage(parts=parts))
        case domain.Role.TOOL_RESULT:
            result = message_pb2.ToolResultMessage(
                tool_call_id=message.tool_call_id, tool_name=message.tool_name, parts=parts, is_error=message.is_error
            )
            proto.tool_result.CopyFrom(result)
        case domain.Role.CUSTOM:
            custom = message_pb2.CustomMessage(
                role=message.custom_role,
                custom_type=message.custom_type,
                parts=parts,
                details_json=message.details_json,
                display=message.display,
            )
            proto.custom.CopyFrom(custom)
    return proto


def edit_to_proto(edit: domain_edits.Edit) -> edit_pb2.Edit:
    proto = edit_pb2.Edit(message_index=edit.message_index)
    match edit:
        case domain_edits.ReplaceResult():
            proto.replace_result.CopyFrom(edit_pb2.ReplaceResult(text=edit.text, ref=edit.ref))
        case domain_edits.PurgeArguments():
            purge = edit_pb2.PurgeArguments(call_index=edit.call_index, arguments_json=edit.arguments_json)
            proto.purge_arguments.CopyFrom(purge)
        case domain_edits.Drop():
            proto.drop.SetInParent()
        case domain_edits.StripThinking():
            proto.strip_thinking.SetInParent()
        case domain_edits.InsertAfter():
            proto.insert_after.CopyFrom(edit_pb2.InsertAfter(message=message_to_proto(edit.message)))
        case domain_edits.MoveAfter():
            proto.move_after.CopyFrom(edit_pb2.MoveAfter(after_index=edit.after_index))
    return proto

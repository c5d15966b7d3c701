"""What a server can do, towards the wire."""

import json
from collections.abc import Sequence

from condense_grpc.api.condense.v1 import capabilities_pb2 as pb
from condense_grpc.domain.config import SessionConfig
from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.recovery import TOOL_NAME
from condense_grpc.domain.slices import MAX_BYTES, MAX_LINES
from condense_grpc.server import limits as fixed
from condense_grpc.server.convert.config import write_config
from condense_grpc.server.convert.enums import MESSAGE_FORMAT, STORE_KIND
from condense_grpc.server.limits import Limits

# The same as the Python client's definition, byte for byte: an agent may take it from either.
TOOL_DESCRIPTION = (
    "Returns the original, complete output of earlier tool calls that now appear only as a summary or a stub. "
    "Pass the refs exactly as the stub or summary shows them, for example t12. For a long output ask for a part by "
    "lines, chars or a pattern."
)
TOOL_PARAMETERS = {
    "type": "object",
    "properties": {
        "toolCallIds": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Refs of tool calls, such as t12, or tool call ids.",
        },
        "slices": {
            "type": "array",
            "description": "Optional: parts instead of whole outputs. Each names a ref of toolCallIds.",
            "items": {
                "type": "object",
                "properties": {
                    "ref": {"type": "string", "description": "A member of toolCallIds."},
                    "lines": {
                        "type": "array",
                        "items": {"type": "integer"},
                        "description": "First and last line, from 1, for example [2001, 2400].",
                    },
                    "chars": {
                        "type": "array",
                        "items": {"type": "integer"},
                        "description": "First and last character, from 1.",
                    },
                    "pattern": {"type": "string", "description": "Only the lines that contain this text."},
                    "regex": {"type": "boolean", "description": "Read pattern as an RE2 expression."},
                    "contextLines": {"type": "integer", "description": "Lines around each match."},
                },
                "required": ["ref"],
            },
        },
    },
    "required": ["toolCallIds"],
}


@frozen
class Offered:
    """A summarizer that sessions can choose."""

    name: str
    is_default: bool = False
    is_remote: bool = False


@frozen
class Capabilities:
    """What one server can do. `default_config`: that of a session for which nothing was set."""

    version: str
    limits: Limits
    store_kind: str
    summarizers: Sequence[Offered]
    default_config: SessionConfig


def write_capabilities(capabilities: Capabilities) -> pb.GetCapabilitiesResponse:
    """The answer; the same for as long as the server runs."""
    answer = pb.GetCapabilitiesResponse(
        version=capabilities.version, store_kind=STORE_KIND.write(capabilities.store_kind)
    )
    answer.formats.extend(MESSAGE_FORMAT.write(form) for form in MESSAGE_FORMAT.meanings)
    _write_limits(capabilities.limits, answer.limits)
    for offered in capabilities.summarizers:
        answer.summarizers.add(name=offered.name, is_default=offered.is_default, is_remote=offered.is_remote)
    answer.recovery_tool.name = TOOL_NAME
    answer.recovery_tool.description = TOOL_DESCRIPTION
    answer.recovery_tool.parameters_json = json.dumps(TOOL_PARAMETERS)
    write_config(capabilities.default_config, answer.default_config)
    return answer


def _write_limits(limits: Limits, target: pb.Limits) -> None:
    target.max_message_bytes = limits.max_message_bytes
    target.max_transcript_message_bytes = limits.max_transcript_message_bytes
    target.max_delta_bytes = limits.max_delta_bytes
    target.max_delta_messages = limits.max_delta_messages
    target.max_stream_bytes = limits.max_stream_bytes
    target.max_session_id_chars = fixed.MAX_SESSION_ID_CHARS
    target.max_labels = fixed.MAX_LABELS
    target.max_query_refs = fixed.MAX_QUERY_REFS
    target.max_query_chars = fixed.MAX_QUERY_CHARS
    target.max_page_size = fixed.MAX_PAGE_SIZE
    target.max_block_bytes = MAX_BYTES
    target.max_block_lines = MAX_LINES

"""Where the texts of imported records lie: in a message of the file if that says the same, else beside the transcript.

A record of a large result can name a file of its old host instead of holding a text. It gets the file's content if
that was brought along, or else the message that it is a record of, if that measures what the record says; otherwise
only its preview is left.
"""

import hashlib
from collections.abc import Mapping, Sequence

from condense_grpc.domain.archive import as_filed
from condense_grpc.domain.arguments import captured_arguments
from condense_grpc.domain.batches import Record, Source
from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.json_text import compact, parse_or_text
from condense_grpc.domain.messages import Message, Part, Role, TextPart, ToolCallPart, calls_of, text_of
from condense_grpc.domain.pairing import Pairs
from condense_grpc.domain.skeleton import skeleton_of
from condense_grpc.domain.text import utf8_bytes
from condense_grpc.engine.codec import encode_message, encode_skeleton
from condense_grpc.engine.ports import StoredMessage
from condense_grpc.engine.transcript import Transcript

# Up to so many characters a record may hold in memory what no message says.
_SHORT_CHARS = 200


@frozen
class _Place:
    """A result in the file, with the arguments of its call."""

    source: Source
    arguments: str
    result: Message


class RecordHomes:
    """The places of one import. `beside` are the messages that stand on no branch; their nodes begin at `next_node`."""

    def __init__(self, files: Mapping[str, bytes], next_node: int, path_arguments: Sequence[str]) -> None:
        self.beside: list[StoredMessage] = []
        self._files = files
        self._next_node = next_node
        self._path_arguments = path_arguments
        self._places: dict[str, _Place] = {}

    def learn(self, transcript: Transcript, messages: Sequence[Message]) -> None:
        """The results of a branch; of equal keys those learned later count."""
        for (call, ordinal), result in Pairs(transcript.skeletons).result_of.items():
            source = Source(transcript.nodes[call], ordinal, transcript.nodes[result])
            arguments = captured_arguments(calls_of(messages[call])[ordinal])
            self._places[transcript.keys[result]] = _Place(source, arguments, messages[result])

    def housed(self, record: Record) -> Record:
        """The record without the bodies that it does not have to hold."""
        place, text = self._places.get(record.key), record.text or ""
        if record.spill_path and not text:
            file = self._files.get(record.spill_path)
            if file is not None:
                text = file.decode("utf-8", "replace")
            elif place is not None and _is_original(record, text_of(place.result)):
                text = text_of(place.result)
            else:
                return record
        record = record._replace(text=text, text_chars=len(text))
        if place is not None and _says_the_same(record, place):
            return as_filed(record._replace(source=place.source))
        if not record.parts and len(text) + len(record.args_json or "") <= _SHORT_CHARS:
            return record
        return as_filed(record._replace(source=self._keep_beside(record)))

    def _keep_beside(self, record: Record) -> Source:
        call = Message(
            Role.ASSISTANT,
            (ToolCallPart(record.tool_call_id, record.tool_name, record.args_json or "{}"),),
            record.timestamp_ms,
        )
        parts: tuple[Part, ...] = record.parts or (TextPart(record.text or ""),)
        result = Message(
            Role.TOOL_RESULT,
            parts,
            record.result_timestamp_ms,
            tool_call_id=record.tool_call_id,
            tool_name=record.tool_name,
            is_error=record.is_error,
        )
        return Source(self._store(call), 0, self._store(result))

    def _store(self, message: Message) -> int:
        node, body = self._next_node, encode_message(message)
        self._next_node += 1
        # No history has this digest, so no transcript ever comes to this message.
        digest = hashlib.blake2b(node.to_bytes(8) + body, digest_size=16, person=b"condense-beside").digest()
        skeleton = encode_skeleton(skeleton_of(message, self._path_arguments))
        self.beside.append(StoredMessage(node, 0, 0, digest, message.timestamp_ms or 0, skeleton, body))
        return node


def _is_original(record: Record, text: str) -> bool:
    """Whether a text is the one of which the record tells size and head."""
    return utf8_bytes(text) == record.spill_bytes and text.startswith(record.result_preview or "")


def _says_the_same(record: Record, place: _Place) -> bool:
    if record.parts and record.parts != place.result.parts:
        return False
    return record.text == text_of(place.result) and _canonical(record.args_json or "{}") == _canonical(place.arguments)


def _canonical(arguments_json: str) -> str:
    return compact(parse_or_text(arguments_json))

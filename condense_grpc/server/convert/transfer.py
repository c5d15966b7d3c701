"""Imports: the pieces of their streams, collected, and their answers."""

from dataclasses import dataclass, field
from typing import Any

from condense_grpc.api.condense.v1 import session_transfer_pb2 as pb
from condense_grpc.api.condense.v1 import transcript_pb2
from condense_grpc.domain.frozen import frozen
from condense_grpc.engine.pi_file import PiFile
from condense_grpc.engine.requests import ImportResult
from condense_grpc.errors import DeltaTooLarge, RequestInvalid
from condense_grpc.server.convert.config import ConfigReader
from condense_grpc.server.convert.session import read_labels, read_request_id, write_session
from condense_grpc.server.convert.session_id import new_session_id
from condense_grpc.server.limits import Limits


@frozen
class ImportOrder:
    """What to make of a file."""

    session_id: str
    config: dict[str, Any]
    labels: dict[str, str]
    request_id: str
    is_native: bool


@dataclass(slots=True)
class ImportReader:
    """The messages of one ImportSession stream. Nothing is made before `finished`."""

    configs: ConfigReader
    limits: Limits
    file: PiFile = field(default_factory=PiFile)
    _order: ImportOrder | None = None
    _bytes: int = 0

    def add(self, message: pb.ImportSessionRequest, message_bytes: int) -> None:
        """Take in the next message. Raises what is wrong with it; the stream is over then."""
        self._bytes += message_bytes
        if self._bytes > self.limits.max_stream_bytes:
            raise DeltaTooLarge(self._bytes, self.limits.max_stream_bytes, is_stream=True)
        kind = message.WhichOneof("payload")
        if self._order is None and kind != "header":
            raise RequestInvalid("header", "must be the first message of the stream")
        match kind:
            case "header" if self._order is None:
                self._order = self._read_header(message.header)
            case "header":
                raise RequestInvalid("header", "must come once")
            case "chunk":
                self.file.add(message.chunk)
            case "spill_file":
                self.file.add_file(message.spill_file.path, message.spill_file.content)
            case _:
                pass

    def _read_header(self, header: pb.ImportHeader) -> ImportOrder:
        form = header.format
        if form not in (transcript_pb2.MESSAGE_FORMAT_UNSPECIFIED, transcript_pb2.MESSAGE_FORMAT_PI):
            raise RequestInvalid("header.format", "must be that of Pi, or unspecified for messages of the contract")
        return ImportOrder(
            new_session_id(header.session_id, "header.session_id") if header.session_id else "",
            self.configs.new(header.config),
            read_labels(header.labels),
            read_request_id(header.request_id),
            form == transcript_pb2.MESSAGE_FORMAT_PI,
        )

    def finished(self) -> ImportOrder:
        """The order, when the client has closed its side. The file names the session if the client does not."""
        if self._order is None:
            raise RequestInvalid("header", "must be the first message of the stream")
        self.file.finish()
        if not self._order.session_id:
            new_session_id(self.file.header_id, "header.session_id")
        return self._order


def write_import(result: ImportResult) -> pb.ImportSessionResponse:
    """The answer."""
    counts = result.counts
    answer = pb.ImportSessionResponse(
        message_count=counts.messages, entry_count=counts.entries, ignored_line_count=counts.ignored_lines
    )
    write_session(result.info, answer.session)
    return answer

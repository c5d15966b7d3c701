"""The ground on which measures stand: a server in a process of its own, a channel to it, and prepared sessions."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any

import grpc
from google.protobuf.empty_pb2 import Empty

from bench.histories import Shape, history
from bench.server import KINDS, YARDSTICKS
from condense_grpc.api.condense.v1.condense_service_pb2_grpc import CondenseServiceStub
from condense_grpc.api.condense.v1.config_pb2 import BATCHING_MODE_AGENT_MESSAGE, PRUNE_ON_ON_DEMAND, SessionConfig
from condense_grpc.api.condense.v1.flush_event_pb2 import FlushBatchesRequest
from condense_grpc.api.condense.v1.message_pb2 import Message
from condense_grpc.api.condense.v1.session_pb2 import ForkSessionRequest
from condense_grpc.api.condense.v1.session_service_pb2_grpc import SessionServiceStub
from condense_grpc.api.condense.v1.transcript_pb2 import AppendMessagesRequest, MessageList, TranscriptDelta
from condense_grpc.api.condense.v1.view_pb2 import VIEW_EDITS, PruneMessagesRequest, PruneMessagesResponse

_LISTENING = re.compile(r"(127\.0\.0\.1:[0-9]+)")
_CHUNK_MESSAGES = 400
_STREAM_MESSAGES = 20_000
LIMIT_BYTES = 64 * 1024 * 1024
ROOT = Path(__file__).parents[1]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
"""That of every process that is started here."""
OPTIONS = [
    ("grpc.max_receive_message_length", LIMIT_BYTES),
    ("grpc.max_send_message_length", LIMIT_BYTES),
    ("grpc.use_local_subchannel_pool", 1),
]
# One batch for each chain, so that a long history is prepared by few summaries.
CONFIG = SessionConfig(prune_on=PRUNE_ON_ON_DEMAND, batching_mode=BATCHING_MODE_AGENT_MESSAGE)


class Ground:
    """One server with an empty database. A context manager; leaving it stops the server and removes everything."""

    def __init__(self, *settings: str) -> None:
        self._settings = settings
        self._folder = Path(tempfile.mkdtemp(prefix="condense-bench-"))
        self.database = self._folder / "bench.db"
        self._names = count(1)

    @classmethod
    def at(cls, address: str) -> "Ground":
        """The client's side alone, of a server that somebody else has started."""
        ground = cls.__new__(cls)
        ground._connect(address)
        return ground

    def __enter__(self) -> "Ground":
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        shutil.rmtree(self._folder)

    def start(self) -> None:
        """Start the server over what the database holds."""
        command = [sys.executable, "-m", "bench.server", f"sqlite:///{self.database}", *self._settings]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)
        assert self._process.stdout is not None
        found = _LISTENING.search(self._process.stdout.readline())
        if found is None:
            raise RuntimeError("the server did not start; see above")
        self._connect(found[1])

    def _connect(self, address: str) -> None:
        self.address = address
        self.channel = grpc.insecure_channel(self.address, OPTIONS)
        self.condense: Any = CondenseServiceStub(self.channel)
        self.sessions: Any = SessionServiceStub(self.channel)
        self.yardstick = {name: yardstick(self.channel, name) for name in KINDS}

    def stop(self) -> None:
        """Have the server write what it has and end."""
        self.channel.close()
        self._process.terminate()
        self._process.communicate()

    def no_op(self) -> None:
        """The yardstick of small calls."""
        self.yardstick["NoOp"](Empty())

    def server_rss_bytes(self) -> int:
        """The resident memory of the server process."""
        return rss_bytes(self._process.pid)

    def session(self, messages: int, shape: Shape, *, flushed: bool = True, seed: int = 1) -> "BenchSession":
        """A new session with a history, flushed and compressed as an agent's would be by then."""
        session = BenchSession(self, f"bench-{next(self._names)}")
        session.upload(history(messages, shape, seed))
        if flushed:
            session.flush()
        return session

    def fork(self, source: "BenchSession") -> "BenchSession":
        """A copy of a session."""
        copy = BenchSession(self, f"bench-{next(self._names)}")
        self.sessions.ForkSession(ForkSessionRequest(session_id=source.name, new_session_id=copy.name))
        copy.length, copy.etag = source.length, source.etag
        return copy


class BenchSession:
    """A session as a client knows it: length, etag and revision of the last answer."""

    def __init__(self, ground: Ground, name: str) -> None:
        self._ground = ground
        self.name = name
        self.length = 0
        self.etag = ""
        self.revision = ""

    def upload(self, messages: Iterable[Message]) -> None:
        """Append a history in chunks."""
        rest = iter(messages)
        while (answer := self._upload_part(rest)) is not None:
            self.length, self.etag = answer.transcript_length, answer.transcript_etag

    def _upload_part(self, rest: Iterator[Message]) -> Any:
        part = [message for _, message in zip(range(_STREAM_MESSAGES), rest, strict=False)]
        if not part:
            return None
        chunks = (part[start : start + _CHUNK_MESSAGES] for start in range(0, len(part), _CHUNK_MESSAGES))
        requests = (
            AppendMessagesRequest(
                session_id=self.name,
                config=CONFIG,
                delta=self.delta(chunk) if number == 0 else TranscriptDelta(messages=MessageList(messages=chunk)),
            )
            for number, chunk in enumerate(chunks)
        )
        return self._ground.condense.AppendMessages(requests)

    def delta(self, messages: Iterable[Message]) -> TranscriptDelta:
        """New messages behind what the server has."""
        return TranscriptDelta(
            base_length=self.length,
            base_etag=self.etag,
            create_if_missing=True,
            messages=MessageList(messages=messages),
        )

    def turn_request(self, messages: Iterable[Message], view: "Any" = VIEW_EDITS) -> PruneMessagesRequest:
        """A turn with these new messages."""
        return PruneMessagesRequest(
            session_id=self.name, delta=self.delta(messages), view=view, known_revision=self.revision
        )

    def prune(self, request: PruneMessagesRequest) -> PruneMessagesResponse:
        """Make a turn and remember what the answer says."""
        answer: PruneMessagesResponse = self._ground.condense.PruneMessages(request)
        self.length, self.etag, self.revision = answer.transcript_length, answer.transcript_etag, answer.revision
        return answer

    def flush(self) -> None:
        """Flush, and wait for the end."""
        *_, last = self._ground.condense.FlushBatches(FlushBatchesRequest(session_id=self.name, joint_events=True))
        *_, event = (last.event, *last.further_events)
        assert event.WhichOneof("event") == "completed", last


def yardstick(channel: grpc.Channel, name: str) -> Any:
    """A yardstick's method."""
    kind = KINDS[name]
    return channel.unary_unary(f"/{YARDSTICKS}/{name}", kind.SerializeToString, kind.FromString)


def rss_bytes(pid: int | str = "self") -> int:
    """The resident memory of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")

"""How a client connects and how long it waits: the options, and the channel arguments that follow from them."""

from dataclasses import dataclass, field
from urllib.parse import quote

from condense_grpc.client.errors import RequestInvalid
from condense_grpc.client.retry import RetryPolicy
from condense_grpc.client.steps import Metadata

MIB = 1024 * 1024
_PRINTABLE = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) != "%")
# Longer ids are not for load balancers: the server refuses them, and metadata of their size would not reach it.
_MAX_SESSION_HEADER = 8000


@dataclass(frozen=True, slots=True)
class ClientOptions:
    """Options of a client. The defaults fit a server with default settings.

    `max_message_bytes` is the limit for both directions and should equal the server's. New messages of more than
    `unary_delta_bytes` are uploaded as a stream of chunks of about `chunk_bytes`. During calls the connection is
    probed every `keepalive_seconds`; a server that allows fewer probes closes it. Timeouts hold for one attempt; a
    flush has none, because a summarizer takes the time it takes.
    """

    max_message_bytes: int = 64 * MIB
    unary_delta_bytes: int = 2 * MIB
    chunk_bytes: int = MIB
    keepalive_seconds: float = 60.0
    call_timeout_seconds: float | None = 30.0
    upload_timeout_seconds: float | None = 300.0
    flush_timeout_seconds: float | None = None
    retry: RetryPolicy = field(default_factory=RetryPolicy)

    def channel_arguments(self) -> list[tuple[str, int]]:
        """What gRPC is told."""
        return [
            ("grpc.max_receive_message_length", self.max_message_bytes),
            ("grpc.max_send_message_length", self.max_message_bytes),
            ("grpc.keepalive_time_ms", int(self.keepalive_seconds * 1000)),
            ("grpc.keepalive_timeout_ms", 20_000),
        ]


def checked_token(token: str | None) -> str | None:
    """A token that a header can hold. Raises `RequestInvalid`."""
    if token and not (token.isascii() and token.isprintable()):
        raise RequestInvalid("the token has characters that no header can hold: check it")
    return token


def call_metadata(token: str | None, session_id: str | None = None) -> Metadata:
    """The metadata of a call: credentials, and the session for load balancers that keep it on one server.

    Metadata is ASCII; other characters of a session id are percent-encoded.
    """
    metadata: Metadata = (("authorization", f"Bearer {token}"),) if token else ()
    session = quote(session_id or "", safe=_PRINTABLE)
    if 0 < len(session) <= _MAX_SESSION_HEADER:
        metadata += (("x-condense-session", session),)
    return metadata

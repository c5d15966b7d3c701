"""The provider over HTTP/1.1 on loopback.

Besides the APIs: `GET …/models` lists one model, `GET /requests` is everything that came in, as JSON.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler
from typing import Any, Protocol

from condense_grpc.testing.strict_provider.requests import Json
from condense_grpc.testing.strict_provider.script import Failure
from condense_grpc.testing.strict_provider.streaming import chunks

_MODELS = {"object": "list", "data": [{"id": "strict", "object": "model", "created": 1, "owned_by": "condense"}]}


class Provider(Protocol):
    """What a connection needs of a provider. Called from several threads."""

    def requests(self) -> Sequence[Json]:
        """Everything that came in."""
        ...

    def respond(self, path: str, body: Json) -> tuple[int, Json, Failure | None]:
        """The answer to one request."""
        ...


class Handler(BaseHTTPRequestHandler):
    """One connection to a provider."""

    protocol_version = "HTTP/1.1"

    def __init__(self, provider: Provider, *args: Any) -> None:
        self._provider = provider
        super().__init__(*args)

    def do_POST(self) -> None:
        """Answer a request."""
        try:
            body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        except ValueError:
            body = None
        if not isinstance(body, dict):
            self._send(400, {"error": {"message": "the body has to be a JSON object", "code": 400}})
            return
        status, value, failure = self._provider.respond(self.path, body)
        if status == 200 and body.get("stream"):
            options = body.get("stream_options")
            told = options.get("include_usage") if isinstance(options, dict) else False
            self._stream(chunks(value, include_usage=bool(told)))
            return
        wait = failure.retry_after_s if failure is not None else None
        self._send(status, value, () if wait is None else [("retry-after", str(wait))])

    def do_GET(self) -> None:
        """The model, and what has been asked."""
        if self.path.endswith("/models"):
            self._send(200, _MODELS)
        elif self.path == "/requests":
            self._send(200, self._provider.requests())
        else:
            self._send(404, {"error": {"message": f"there is no {self.path}"}})

    def _send(self, status: int, value: Any, headers: Iterable[tuple[str, str]] = ()) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        for name, text in (("content-type", "application/json"), ("content-length", str(len(data))), *headers):
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, events: Iterator[bytes]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in events:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

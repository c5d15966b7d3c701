"""The provider: its script, what it has been asked, and a server in threads of its own, so that agents may block."""

import json
import threading
from collections.abc import Sequence
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

from condense_grpc.testing.strict_provider.answers import answer, refusal
from condense_grpc.testing.strict_provider.http import Handler
from condense_grpc.testing.strict_provider.requests import Asked, Json, asked, form_of, last_result, offered_tools
from condense_grpc.testing.strict_provider.script import Failure, Turn

# Where each provider's client expects the API below its base URL.
_PREFIX = {"openai": "/v1", "anthropic": "", "gemini": "/v1beta"}


class StrictProvider:
    """Answers one turn of its script after the other; when that is at its end, the last one again and again.

    A refused request uses up no turn. A context manager; `asked` are the requests so far, which are also written to
    `log`, one JSON object a line, as they come.
    """

    def __init__(self, turns: Sequence[Turn], *, log: Path | None = None) -> None:
        if not turns:
            raise ValueError("a script needs at least one turn")
        self._turns = list(turns)
        self._log = log
        self._lock = threading.Lock()
        self._used = 0
        self.asked: list[Asked] = []
        self._server: ThreadingHTTPServer | None = None

    def __enter__(self) -> Self:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, name="strict-provider", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.shutdown()
        self._server.server_close()

    @property
    def port(self) -> int:
        """The port on 127.0.0.1."""
        assert self._server is not None
        return self._server.server_address[1]

    def base_url(self, provider: str = "openai") -> str:
        """What the client of a provider (`openai`, `anthropic`, `gemini`) takes as its base URL."""
        return f"http://127.0.0.1:{self.port}{_PREFIX[provider]}"

    @property
    def refusals(self) -> list[str]:
        """What was wrong with requests."""
        return [one.refused for one in self.asked if one.refused]

    def requests(self) -> list[Json]:
        """Everything that came in, as plain JSON."""
        with self._lock:
            return [_plain(one) for one in self.asked]

    def respond(self, path: str, body: Json) -> tuple[int, dict[str, Any], Failure | None]:
        """The answer to one request: status and body, and the failure if the script has one here."""
        form = form_of(path)
        if form is None:
            return 404, {"error": {"message": f"there is no {path}"}}, None
        request = asked(form, body)
        with self._lock:
            number, turn = self._used, self._turns[min(self._used, len(self._turns) - 1)]
            unknown = sorted({name for name, _ in turn.calls} - offered_tools(request))
            if unknown and not request.refused:
                told = f"the script calls {', '.join(unknown)}, which the request does not offer as a tool"
                request = Asked(form, request.history, body, told)
            self.asked.append(request)
            self._write(request)
            if request.refused:
                return 400, refusal(form, 400, request.refused), None
            self._used += 1
        if turn.failure is not None:
            return turn.failure.status, refusal(form, turn.failure.status, turn.failure.message), turn.failure
        said = turn.text + last_result(request)[: turn.quote_chars]
        return 200, answer(form, Turn(said, turn.calls), number + 1, request), None

    def _write(self, request: Asked) -> None:
        if self._log is not None:
            with self._log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(_plain(request)) + "\n")


def _plain(request: Asked) -> Json:
    return {"format": request.form.value, "refused": request.refused, "body": request.body}

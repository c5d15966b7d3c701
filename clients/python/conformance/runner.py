"""Carries out the orders of clients/conformance with `condense_grpc.client`: one line in, one line out."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from typing import Any

from google.protobuf.json_format import ParseDict

from condense_grpc.api.condense.v1.flush_pb2 import BatchOutcome, FlushOutcome
from condense_grpc.api.condense.v1.transcript_pb2 import MessageFormat, ViolationKind
from condense_grpc.client import (
    ClientOptions,
    CondenseClient,
    CondenseError,
    ContextUsage,
    FlushStream,
    RetryPolicy,
    Session,
    SessionConfig,
    View,
    errors,
    native,
    recovery_tool,
    slices,
)

Order = dict[str, Any]
Report = dict[str, Any]

# The names that scenarios use for the classes of this language where they differ.
_NAMES = {"NotImplementedByServer": "NotImplemented", "ServerInternal": "Internal"}


class Runner:
    """What the orders of one scenario have opened."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._clients: dict[str, CondenseClient] = {}
        self._sessions: dict[str, Session[Any]] = {}
        self._lists: dict[str, list[Any]] = {}
        self._flushes: dict[str, FlushStream] = {}

    def hello(self, _: Order) -> Report:
        """What this language can hold."""
        return {"language": "python", "numbers": "ieee754", "loneSurrogates": "kept", "stringsHoldSurrogates": True}

    def reset(self, order: Order) -> Report:
        """Closes everything."""
        for stream in self._flushes.values():
            stream.close()
        for client in self._clients.values():
            client.close()
        self.__init__(order["target"])  # type: ignore[misc]
        return {}

    def client(self, order: Order) -> Report:
        """A client with options of its own."""
        given = order.get("options", {})
        defaults = ClientOptions()
        options = ClientOptions(
            call_timeout_seconds=given.get("callTimeoutSeconds", defaults.call_timeout_seconds),
            retry=RetryPolicy(max_attempts=given.get("maxAttempts", defaults.retry.max_attempts)),
        )
        client = CondenseClient(given.get("target", self._target), token=given.get("token"), options=options)
        self._clients[order["client"]] = client
        return {}

    def _client_of(self, order: Order) -> CondenseClient:
        name = order.get("client", "")
        if name not in self._clients:
            self.client({"client": name})
        return self._clients[name]

    def options(self, order: Order) -> Report:
        """The options that a client works with."""
        options = self._client_of(order).options
        return {
            "maxMessageBytes": options.max_message_bytes,
            "unaryDeltaBytes": options.unary_delta_bytes,
            "chunkBytes": options.chunk_bytes,
            "keepaliveSeconds": options.keepalive_seconds,
            "callTimeoutSeconds": options.call_timeout_seconds,
            "maxAttempts": options.retry.max_attempts,
        }

    def close(self, order: Order) -> Report:
        """Closes a client."""
        self._client_of(order).close()
        return {}

    def capabilities(self, order: Order) -> Report:
        """What the server says about itself."""
        told = self._client_of(order).capabilities()
        tool = told.recovery_tool
        return {
            "version": told.version,
            "formats": [MessageFormat.Name(one) for one in told.formats],
            "maxMessageBytes": told.limits.max_message_bytes,
            "recoveryTool": {
                "name": tool.name,
                "description": tool.description,
                "parametersJson": tool.parameters_json,
            },
        }

    def session(self, order: Order) -> Report:
        """A handle on a session, and an empty list of the caller."""
        config = ParseDict(order["config"], SessionConfig()) if "config" in order else None
        name = order["session"]
        client = self._client_of(order)
        self._sessions[name] = client.session(order["id"], config=config, adapter=native(order["format"]))
        self._lists[name] = []
        return {}

    def append(self, order: Order) -> Report:
        """Further elements in the caller's list."""
        self._lists[order["session"]] += [json.loads(text) for text in order["elements"]]
        return {}

    def cut(self, order: Order) -> Report:
        """The caller's list, shortened."""
        del self._lists[order["session"]][order["length"] :]
        return {}

    def prune(self, order: Order) -> Report:
        """The view of the caller's list."""
        name = order["session"]
        usage = order.get("usage")
        view = self._sessions[name].prune(
            self._lists[name],
            usage=ContextUsage(tokens=usage["tokens"], context_window=usage["contextWindow"]) if usage else None,
            min_savings_chars=order.get("minSavingsChars"),
            dry_run=order.get("dryRun", False),
        )
        return _view_report(self._lists[name], view)

    def flush(self, order: Order) -> Report:
        """Starts a flush and reads it to an event of the kind `until`, or to its end."""
        name = order["session"]
        messages = self._lists[name] if order.get("list", True) else None
        stream = self._sessions[name].flush(messages, attach=order.get("attach", True))
        return self._opened(order, stream)

    def compact(self, order: Order) -> Report:
        """The same for a compaction."""
        return self._opened(order, self._sessions[order["session"]].compact(attach=order.get("attach", True)))

    def _opened(self, order: Order, stream: FlushStream) -> Report:
        self._flushes[order.get("flush", "")] = stream
        return _read_events(stream, order.get("until"))

    def next(self, order: Order) -> Report:
        """Reads on in a flush."""
        return _read_events(self._flushes[order.get("flush", "")], order.get("until"))

    def cancel(self, order: Order) -> Report:
        """Leaves a flush."""
        self._flushes.pop(order.get("flush", "")).close()
        return {}

    def query(self, order: Order) -> Report:
        """Originals."""
        wanted = [_slice(one) for one in order.get("slices", [])]
        answer = self._sessions[order["session"]].query(order["refs"], wanted)
        results = [
            {
                "requested": result.requested,
                "found": result.found,
                "blocks": [
                    {
                        "label": block.label,
                        "text": block.text,
                        "truncated": block.truncated,
                        "totalLines": block.total_lines,
                        "ref": block.record.ref,
                        "argumentsJson": block.record.arguments_json,
                    }
                    for block in result.blocks
                ],
            }
            for result in answer.results
        ]
        return {"text": answer.text, "results": results}

    def read(self, order: Order) -> Report:
        """One original, verbatim."""
        text = "".join(self._sessions[order["session"]].read(order["ref"]))
        return {"chars": len(text), "sha256": hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()}

    def recoveryTool(self, order: Order) -> Report:
        """The definition for a provider, as JSON text."""
        return {"json": json.dumps(recovery_tool(order["provider"].replace("-", "_")))}

    def answer(self, order: Order) -> Report:
        """The answer to a model that has called the recovery tool."""
        return {"text": self._sessions[order["session"]].answer_tool_call(order["arguments"])}

    def diagnostics(self, order: Order) -> Report:
        """How a session is doing."""
        told = self._sessions[order["session"]].diagnostics()
        return {
            "statusLine": told.status_line,
            "pendingBatches": told.advice.pending_batches,
            "running": told.advice.running,
            "lastOutcomes": [FlushOutcome.Name(one.outcome) for one in told.last_flushes],
        }

    def delete(self, order: Order) -> Report:
        """Removes a session."""
        return {"deleted": self._sessions[order["session"]].delete()}


def _view_report(messages: list[Any], view: View[Any]) -> Report:
    own = {id(message): index for index, message in enumerate(messages)}
    cache = view.cache
    return {
        "view": [f"={own[id(one)]}" if id(one) in own else json.dumps(one) for one in view.messages],
        "edits": len(view.edits),
        "pruned": view.pruned,
        "unchanged": view.unchanged,
        "revision": view.revision,
        "statusLine": view.status_line,
        "reclaim": {"beforeChars": view.reclaim.before_chars, "afterChars": view.reclaim.after_chars},
        "cache": {
            "firstChangedIndex": cache.first_changed_index if cache.HasField("first_changed_index") else None,
            "breaksCache": cache.breaks_cache,
        },
        "advice": {"pendingBatches": view.advice.pending_batches},
        "violations": [
            {"kind": ViolationKind.Name(one.kind), "messageIndex": one.message_index} for one in view.violations
        ],
    }


def _read_events(stream: FlushStream, until: str | None) -> Report:
    report: Report = {"events": [], "batches": [], "completed": None}
    for event in stream:
        kind = _camel(event.WhichOneof("event"))
        report["events"].append(kind)
        if event.HasField("batch_finished"):
            batch = event.batch_finished
            report["batches"].append({"outcome": BatchOutcome.Name(batch.outcome), "refs": list(batch.refs)})
        if event.HasField("completed"):
            done = event.completed
            counts = {"summarizedBatches": done.counts.summarized_batches, "blocks": len(done.block_ids)}
            report["completed"] = {"outcome": FlushOutcome.Name(done.outcome), **counts}
        if kind == until:
            break
    return report


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)


def _slice(wanted: Order) -> Any:
    limit = wanted.get("maxChars")
    if "lines" in wanted:
        return slices.lines(wanted["ref"], *wanted["lines"], max_chars=limit)
    if "chars" in wanted:
        return slices.chars(wanted["ref"], *wanted["chars"], max_chars=limit)
    regex, around = wanted.get("regex", False), wanted.get("contextLines", 0)
    return slices.matches(wanted["ref"], wanted["pattern"], regex=regex, context_lines=around, max_chars=limit)


def _error_report(error: CondenseError) -> Report:
    kind = next(name for name, value in vars(errors).items() if value is type(error))
    return {
        "type": _NAMES.get(kind, kind),
        "reason": error.reason,
        "metadata": error.metadata,
        "retryAfterSeconds": error.retry_after_seconds,
        "violations": [{"field": one.field, "description": one.description} for one in error.violations],
        "message": error.message,
    }


def main() -> None:
    """Reads orders until there are no more."""
    runner = Runner(sys.argv[1])
    for line in sys.stdin:
        order = json.loads(line)
        carry_out: Callable[[Order], Report] = getattr(runner, order["op"])
        try:
            report = {"result": carry_out(order)}
        except CondenseError as error:
            report = {"error": _error_report(error)}
        print(json.dumps(report), flush=True)
    runner.reset({"target": ""})


if __name__ == "__main__":
    main()

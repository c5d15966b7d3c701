"""Runner of whole sessions: every step goes through the engine, with a store in memory and the canned summarizer."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

from condense_grpc.domain.messages import TextPart
from condense_grpc.domain.payload import serialize_batch
from condense_grpc.domain.pi_json import message_from_pi, message_to_pi, part_to_pi
from condense_grpc.domain.usability import is_usable_summary
from condense_grpc.engine.engine import Engine
from condense_grpc.engine.events import BatchFinished, ChainCompressed, FlushCompleted, NumberedEvent
from condense_grpc.engine.ports import (
    FuseRequest,
    SummaryEvent,
    SummaryFailure,
    SummaryReply,
    SummaryRequest,
    Usage,
)
from condense_grpc.engine.requests import Delta, FlushRequest, FlushTrigger, PruneRequest, ViewKind
from condense_grpc.store.memory import MemoryStore
from tests.vectorkit.config_json import config_changes
from tests.vectorkit.ops_index import slice_of
from tests.vectorkit.ops_summarize import canned_reply
from tests.vectorkit.registry import operation

Json = dict[str, Any]


class ScriptClock:
    def __init__(self) -> None:
        self.now = 0

    def now_ms(self) -> int:
        return self.now


class CannedSummarizer:
    """One model without fallback, that answers at once by the rules of the present step."""

    name = "canned"
    can_fuse = True

    def __init__(self) -> None:
        self.rules: list[Json] = []

    async def summarize(self, request: SummaryRequest) -> AsyncIterator[SummaryEvent]:
        yield self._answer("batch", serialize_batch(request.batch, request.result_budget_chars))

    async def fuse(self, request: FuseRequest) -> AsyncIterator[SummaryEvent]:
        yield self._answer("range", request.text)

    def _answer(self, kind: str, payload: str) -> SummaryEvent:
        fits = (
            rule["outcome"]
            for rule in self.rules
            if rule.get("kind", kind) == kind and rule.get("contains", "") in payload
        )
        reply = canned_reply(next(fits, {"type": "auto"}), kind, payload)
        text = "\n".join(part.text for part in reply.parts if isinstance(part, TextPart))
        if reply.stop_reason in ("error", "aborted") or not is_usable_summary(text, reply.stop_reason):
            return SummaryFailure(reply.stop_reason)
        return SummaryReply(text, Usage(100, 20, 0.0078125))


class Script:
    """One scenario on its way."""

    def __init__(self) -> None:
        self.clock = ScriptClock()
        self.summarizer = CannedSummarizer()
        self.engine = Engine(MemoryStore(), self.summarizer, self.clock)
        self.lengths: dict[str, int] = {}

    async def run(self, given: Json) -> list[Json]:
        self.clock.now = given["now"]
        await self.engine.start()
        config = config_changes({"pathArguments": ["path"]} | given["config"])
        await self.engine.create_session("main", config=config, labels={})
        self.lengths["main"] = 0
        answers = []
        for step in given["steps"]:
            self.clock.now = step["now"]
            name = step.get("session", "main")
            self.summarizer.rules = step.get("summaries", [])
            answer = await getattr(self, f"do_{step['do']}")(name, step)
            report = await self.engine.diagnostics(name)
            # The vectors know nothing of the kinds that were added since.
            counts = {kind: count for kind, count in report.counts.items() if count and kind != "summary-failed"}
            answers.append({"do": step["do"], **answer, **({"diagnostics": counts} if counts else {})})
        await self.engine.close()
        return answers

    async def do_append(self, name: str, step: Json) -> Json:
        messages = [message_from_pi(message) for message in step["messages"]]
        appended = await self.engine.append(name, Delta(self.lengths[name], "", messages))
        self.lengths[name] = appended.length
        return {"length": appended.length}

    async def do_rewind(self, name: str, step: Json) -> Json:
        appended = await self.engine.append(name, Delta(step["to_length"], "", ()))
        self.lengths[name] = appended.length
        return {"length": appended.length}

    async def do_fork(self, name: str, step: Json) -> Json:
        await self.engine.fork_session(name, step["to"])
        self.lengths[step["to"]] = self.lengths[name]
        return {}

    async def do_config(self, name: str, step: Json) -> Json:
        await self.engine.update_session(name, config=config_changes(step["patch"]), labels=None)
        return {}

    async def do_render(self, name: str, step: Json) -> Json:
        result = await self.engine.prune(PruneRequest(name, view=ViewKind.FULL))
        assert result.messages is not None
        return {"messages": [message_to_pi(message) for message in result.messages]}

    async def do_query(self, name: str, step: Json) -> Json:
        answer = await self.engine.query(name, step["refs"], [slice_of(value) for value in step.get("slices") or []])
        parts = {label: [part_to_pi(part) for part in found] for label, found in answer.parts.items()}
        return {"text": answer.text, "found": answer.found, **({"parts": parts} if parts else {})}

    async def do_flush(self, name: str, step: Json) -> Json:
        return await self._events(self.engine.flush(FlushRequest(name, trigger=FlushTrigger(step["trigger"]))))

    async def do_compact(self, name: str, step: Json) -> Json:
        answer = await self._events(self.engine.compact(name))
        return {key: answer[key] for key in ("blocks", "skippedChains")}

    async def _events(self, steps: AsyncIterator[Sequence[NumberedEvent]]) -> Json:
        answer: Json = {"batches": [], "blocks": []}
        for numbered in [one async for events in steps for one in events]:
            match numbered.event:
                case BatchFinished() as event:
                    answer["batches"].append(_batch(event))
                case ChainCompressed() as event:
                    block = {"id": event.block_id, "refs": list(event.refs)}
                    answer["blocks"].append(block | {"source": event.body_source, "body": event.body})
                case FlushCompleted() as event:
                    if event.outcome == "disabled":
                        return {"outcome": "disabled"}
                    answer |= {"outcome": event.outcome, "skippedChains": event.skipped_chains}
        return answer


def _batch(event: BatchFinished) -> Json:
    answer: Json = {"turnIndex": event.turn_index, "calls": list(event.occurrence_keys), "outcome": event.outcome}
    if event.refs:
        answer |= {"refs": list(event.refs), "text": event.text}
    if event.duplicates:
        answer["duplicates"] = [{"call": item.occurrence_key, "ref": item.ref} for item in event.duplicates]
    return answer


@operation("scenario")
def run_scenario(given: Json) -> Any:
    return {"steps": asyncio.run(Script().run(given))}

"""Runners of the model side of summarizing, with the canned summarizer of the vectors in place of a provider."""

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

from condense_grpc.domain.config import SessionConfig
from condense_grpc.domain.pi_json import part_from_pi
from condense_grpc.domain.pi_records import batch_from_pi
from condense_grpc.engine.ports import FuseRequest, SummaryEvent, SummaryReply, SummaryRequest, Usage
from condense_grpc.summarize.attempt import CredentialsRejected, ModelEvent, ModelReply, ModelRequest
from condense_grpc.summarize.fallback import FallbackController, Signal, has_distinct_fallback
from condense_grpc.summarize.model_choice import Model, Notice
from condense_grpc.summarize.model_summarizer import ModelAccess, ModelSetup, ModelSummarizer
from tests.summarize.virtual_time import run_virtually
from tests.vectorkit.compare import as_multiset, difference
from tests.vectorkit.registry import operation

Json = dict[str, Any]

SESSION = "main"
USAGE = Usage(100, 20, 0.0078125)
USAGE_JSON = {
    "input": 100,
    "output": 20,
    "cacheRead": 0,
    "cacheWrite": 0,
    "totalTokens": 120,
    "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0.0078125},
}


def model_of(value: Json | None) -> Model | None:
    return Model(value["provider"], value["id"], value.get("name", "")) if value else None


@operation("has_distinct_fallback")
def run_has_distinct_fallback(given: Json) -> Any:
    return has_distinct_fallback(model_of(given["primary"]), model_of(given["session"]))


@operation("fallback_controller")
def run_fallback_controller(given: Json) -> Any:
    controller = FallbackController()
    return [
        {"ret": _controller_call(controller, event), "inFallback": controller.in_fallback} for event in given["events"]
    ]


def _controller_call(controller: FallbackController, event: Json) -> Any:
    match event["call"]:
        case "chooseTarget":
            target = controller.choose_target(event["at"])
            return {"target": "primary" if target.is_primary else "fallback", "wasProbe": target.is_probe}
        case "onPrimarySuccess":
            return _signal_word(controller.primary_succeeded(was_probe=event["wasProbe"]))
        case "onPrimaryFailFallbackOk":
            return _signal_word(controller.retry_succeeded(event["at"]))
        case "onBothDown":
            return controller.both_failed(event["at"])
        case "onFallbackSuccess":
            return _signal_word(controller.fallback_succeeded())
        case "onFallbackOnlyFail":
            return None
        case "reset":
            return controller.reset()
    raise ValueError(event["call"])


def _signal_word(signal: Signal | None) -> str:
    return signal.name.lower() if signal else "none"


class CannedClient:
    """The canned summarizer as a client of models. `now_ms` is the clock its rules look at."""

    def __init__(self, rules: list[Json]) -> None:
        self._rules = rules
        self.now_ms = 0
        self.sent: list[Json] = []

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        kind, payload = _payload_of(request.prompt)
        model = f"{request.model.provider}/{request.model.model_id}"
        if self._lacks_credentials(model):
            raise CredentialsRejected
        outcome = self._outcome(kind, payload, model)
        sent: Json = {"kind": kind, "model": model, "payload": payload}
        if request.effort:
            sent["reasoningEffort"] = request.effort.level
        self.sent.append(sent)
        if outcome["type"] == "throw":
            raise ConnectionError(outcome.get("message"))
        if outcome["type"] == "hang":
            await asyncio.get_running_loop().create_future()
        yield canned_reply(outcome, kind, payload)

    def _lacks_credentials(self, model: str) -> bool:
        """Credentials are asked for before there is a request: only the model and the clock decide."""
        return any(rule["outcome"]["type"] == "auth" and self._applies(rule, model) for rule in self._rules)

    def _applies(self, rule: Json, model: str) -> bool:
        in_time: bool = rule.get("since", self.now_ms) <= self.now_ms < rule.get("until", self.now_ms + 1)
        return in_time and bool(rule.get("model", model) == model)

    def _outcome(self, kind: str, payload: str, model: str) -> Json:
        for rule in self._rules:
            outcome: Json = rule["outcome"]
            fits = rule.get("kind", kind) == kind and rule.get("contains", "") in payload
            if fits and outcome["type"] != "auth" and self._applies(rule, model):
                return outcome
        return {"type": "auto"}


def _payload_of(prompt: str) -> tuple[str, str]:
    for kind, tag in (("batch", "tool-call-batch"), ("range", "sub-task-summaries")):
        if prompt.endswith(f"\n</{tag}>"):
            return kind, prompt.partition(f"\n\n<{tag}>\n")[2].removesuffix(f"\n</{tag}>")
    raise ValueError("a request without payload")


def canned_reply(outcome: Json, kind: str, payload: str) -> ModelReply:
    match outcome["type"]:
        case "auto":
            content = [{"type": "text", "text": auto_text(kind, payload, outcome.get("pad", 0))}]
        case "blocks":
            content = outcome["content"]
        case _:
            defaults = {"length": "cut", "refusal": "I cannot help with that."}
            text = outcome.get("text", defaults.get(outcome["type"]))
            content = [] if text is None else [{"type": "text", "text": text}]
    stop = outcome["type"] if outcome["type"] in ("length", "refusal", "error", "aborted") else "stop"
    return ModelReply(tuple(map(part_from_pi, content)), stop, USAGE)


def auto_text(kind: str, payload: str, pad: int) -> str:
    if kind == "batch":
        labels = re.findall(r"^(\[\[[0-9]+:.*?\]\]) Tool: ", payload, re.MULTILINE)
        text = "\n".join(f"- {label} ok" for label in labels) or "- (none)"
    else:
        refs = dict.fromkeys(re.findall(r"`(t[0-9]+)`", payload))
        text = " ".join(["fused", *refs])
    return text + (" " + "p" * pad if pad > 0 else "")


def _compare_summarize(expected: list[Json], actual: list[Json]) -> str | None:
    """Requests are compared as a multiset. Notes are informative there; ours are the same, in the same order."""
    return difference(_in_any_order(expected), _in_any_order(actual))


def _in_any_order(calls: list[Json]) -> list[Json]:
    return [call | {"llm": as_multiset(call["llm"])} for call in calls]


@operation("summarize", compare=_compare_summarize)
def run_summarize(given: Json) -> Any:
    return run_virtually(lambda: _summarize(given))


class _Flushes:
    """The calls of one vector: one summarizer over all of them, at the time of each call."""

    def __init__(self, given: Json) -> None:
        models = {(raw["provider"], raw["id"]): model_of(raw) for raw in given["models"].values()}
        config = given["config"]
        setup = ModelSetup(
            SessionConfig(
                summarizer_model=config["summarizerModel"],
                summarizer_thinking=config["summarizerThinking"],
                summarizer_idle_timeout_ms=config["summarizerIdleTimeoutMs"],
                summarizer_max_timeout_ms=config["summarizerMaxTimeoutMs"],
            ),
            model_of(given["model"]),
            use_fallback=given.get("useController", True),
        )
        self._use_controller = setup.use_fallback
        self._budget_chars = setup.config.result_budget_chars
        self._client = CannedClient(given["summarizer"])
        self._notes: list[Json] = []
        access = ModelAccess(self._client, lambda *key: models.get(key), lambda session_id: setup)
        self._summarizer = ModelSummarizer("canned", access, self, self._note)

    def now_ms(self) -> int:
        return self._client.now_ms

    def _note(self, session_id: str, notice: Notice) -> None:
        self._notes.append({"code": notice.code, "level": notice.level, "args": list(notice.args)})

    async def call(self, call: Json) -> Json:
        self._client.now_ms = call["now"]
        self._client.sent, self._notes = [], []
        if "range" in call:
            streams = [self._summarizer.fuse(FuseRequest(SESSION, call["range"]))]
        else:
            batches = map(batch_from_pi, call["batches"])
            requests = [SummaryRequest(SESSION, batch, self._budget_chars) for batch in batches]
            streams = [self._summarizer.summarize(request) for request in requests]
        results = await asyncio.gather(*map(_result, streams))
        return {
            "results": results,
            "llm": self._client.sent,
            "notes": self._notes,
            "inFallback": self._summarizer.in_fallback(SESSION) if self._use_controller else None,
        }


async def _summarize(given: Json) -> list[Json]:
    flushes = _Flushes(given)
    return [await flushes.call(call) for call in given["calls"]]


async def _result(events: AsyncIterator[SummaryEvent]) -> Json | None:
    last = [event async for event in events][-1]
    if not isinstance(last, SummaryReply):
        return None
    assert last.usage == USAGE
    return {"summaryText": last.text, "usage": USAGE_JSON}

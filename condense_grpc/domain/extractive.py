"""The summary of last resort: made without a model, for a batch that no summarizer managed."""

from collections.abc import Sequence

from condense_grpc.domain.batches import Call, Ref
from condense_grpc.domain.json_text import compact, parse_or_text
from condense_grpc.domain.text import trim

_ARGS_CHARS = 120
_LINE_CHARS = 160


def last_resort_summary(calls: Sequence[Call], refs: Sequence[Ref]) -> str:
    """Per call its ref, tool, arguments, outcome and length, then the first and the last line of its text."""
    return "\n".join(_describe(call, ref) for call, ref in zip(calls, refs, strict=True))


def _describe(call: Call, ref: Ref) -> str:
    status = "ERROR" if call.is_error else "OK"
    args = _cut(compact(parse_or_text(call.args_json)), _ARGS_CHARS)
    lines = [f"- `{ref.short_id}` {call.tool_name} {args}: {status}, {len(call.result_text)} characters"]
    told = [line for line in map(trim, call.result_text.split("\n")) if line]
    shown = told if len(told) < 2 else [told[0], told[-1]]
    return "\n".join(lines + [f"  {_cut(line, _LINE_CHARS)}" for line in shown])


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit] + "…"

"""The last look at a reply before it may stand for results: is it a summary at all, and what in it is not true?

A reply that refuses, calls a tool, or is longer than what it fuses is a failure like any other. In one that is kept,
our own markup cannot be forged: delimiters are escaped, refs that nobody gave the model are taken out, and labels
that name no call are counted (they become nothing when labels become refs).
"""

import re
from collections.abc import Iterator

from condense_grpc.domain.batches import Batch
from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.text import is_blank
from condense_grpc.engine.ports import FuseRequest, SummaryCheck, SummaryReply, SummaryRequest
from condense_grpc.summarize.attempt import AttemptFailure, AttemptResult, FailureReason
from condense_grpc.summarize.fact_check import Source, count_facts

_REFUSAL_CHARS = 800
_REFUSAL = re.compile(
    r"\W{0,5}(?:(?:i['’]?m|i am|we['’]?re|we are)\s+(?:very\s+|so\s+)?(?:sorry|unable|not able|afraid)|sorry\b"
    r"|i\s+(?:can(?:no|['’])t|won['’]t|must decline|will not|do not feel|don['’]t feel)|i apologi[sz]e"
    r"|as an ai\b|(?:unfortunately|apologies),?\s+(?:but\s+)?i\b|my (?:guidelines|policies) )",
    re.IGNORECASE,
)
_TOOL_CALL = re.compile(
    r"\s*(?:```\w{0,10}\s*)?(?:<\|?/?(?:tool_call|tool_use|function_calls?|invoke|function|antml:)|\[TOOL_CALLS?\]"
    r"|<｜tool|\{\s*\"(?:name|tool|tool_name|function|tool_calls)\"\s*:)",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^\s{0,8}[-*•]\s", re.MULTILINE)
_LABEL = re.compile(r"^[ \t]*(?:[-*][ \t]+)?\[\[(\d{1,9}):([^\]\n]{1,200})\]\]", re.MULTILINE)
_DELIMITER = re.compile(
    r"<(?=\s{0,9}/?\s{0,9}(?:compressed-chain|protected-output|tool-call-batch|sub-task-summaries))", re.IGNORECASE
)
_MARK = re.compile(r"[ \t]?`([tb]\d{1,9})`|\{(b\d{1,9})\}")
_FORGED_FOOTER = re.compile(r"^.{0,10}\*\*Summarized tool refs\*\*.*$", re.MULTILINE)


def review(request: SummaryRequest | FuseRequest, reply: SummaryReply, redactions: int = 0) -> AttemptResult:
    """The reply as it may be kept, with what was found in it, or why it may not."""
    if isinstance(request, SummaryRequest):
        labels = tuple(_named_calls(reply.text, request.batch))
        return _kept(reply, Source.of_batch(request.batch), _Labels(labels, len(request.batch.calls)), redactions)
    if len(reply.text) > len(request.text):
        return AttemptFailure(FailureReason.TOO_LONG, usage=reply.usage)
    return _kept(reply, Source(request.text), _Labels(), redactions)


@frozen
class _Labels:
    """The numbers of the calls that the labels of a reply name (0: none), and how many calls there are."""

    numbers: tuple[int, ...] = ()
    calls: int = 0


def _kept(reply: SummaryReply, source: Source, labels: _Labels, redactions: int) -> AttemptResult:
    fault = _fault(reply.text, is_in_form=any(labels.numbers) or bool(_BULLET.search(reply.text)))
    if fault is not None:
        return AttemptFailure(fault, usage=reply.usage)
    text, stripped = _without_forgeries(reply.text, source.text)
    if is_blank(text):
        return AttemptFailure(FailureReason.EMPTY, usage=reply.usage)
    quoted, unfounded = count_facts(text, source)
    check = SummaryCheck(
        quoted_facts=quoted,
        unfounded_facts=unfounded,
        stripped_marks=stripped + labels.numbers.count(0),
        unlabelled_calls=labels.calls - len(set(labels.numbers) - {0}),
        redactions=redactions,
    )
    return SummaryReply(text, reply.usage, check)


def _fault(text: str, *, is_in_form: bool) -> FailureReason | None:
    if _TOOL_CALL.match(text):
        return FailureReason.TOOL_SYNTAX
    if not is_in_form and len(text) <= _REFUSAL_CHARS and _REFUSAL.match(text):
        return FailureReason.REFUSAL
    return None


def _named_calls(text: str, batch: Batch) -> Iterator[int]:
    """The number of the call that each leading label names; 0 for a label that names none."""
    names = [call.tool_name.strip().lower() for call in batch.calls]
    for match in _LABEL.finditer(text):
        number = int(match[1])
        is_true = 0 < number <= len(names) and names[number - 1] == match[2].strip().lower()
        yield number if is_true else 0


def _without_forgeries(text: str, source: str) -> tuple[str, int]:
    """The text without markup of ours that the model did not find in its source, and how much that was."""
    stripped = 0

    def kept(match: re.Match[str]) -> str:
        nonlocal stripped
        # A ref of an earlier summary stands in backticks; tool output may speak of `t5` in its own right.
        if re.search(rf"(?<!\w){match[1] or match[2]}(?!\w)", source):
            return match[0]
        stripped += 1
        return ""

    text, footers = _FORGED_FOOTER.subn("", text)
    text, delimiters = _DELIMITER.subn("&lt;", _MARK.sub(kept, text))
    return text, stripped + footers + delimiters

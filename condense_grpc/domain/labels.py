"""Labels and placeholders in the text of a summary.

A summarizer marks its bullets with labels `[[N:tool]]`; they become refs of the batch here. A fused body may name
other blocks as `{bN}`; these are replaced by their bodies. Replaced text is never scanned again.
"""

import re
from collections.abc import Callable, Sequence

from condense_grpc.domain.batches import Ref
from condense_grpc.domain.text import WHITESPACE, trim

_SPACE = f"[{WHITESPACE}]"
_OPENING = r"\[\[([0-9]+):([^\]\n]+)"
_CLOSING = rf"\]\]{_SPACE}*"
_LEADING_LABEL = re.compile(rf"({_SPACE}*(?:[-*]{_SPACE}+)?){_OPENING}{_CLOSING}")
# An opening without closing is matched too, and skipped: no label can begin inside of it, and looking for one at
# each of many openings would cost the length of the line squared.
_ANY_OPENING = re.compile(rf"{_OPENING}({_CLOSING})?")
_PLACEHOLDER = re.compile(r"\{(b[0-9]+)\}")


def substitute_labels(text: str, refs: Sequence[Ref], tool_names: Sequence[str]) -> str:
    """Replace the labels of a summary by the refs of its batch.

    A label at the start of a line becomes its ref, or goes when it names no call of the batch. Further labels go
    when they name one and stay otherwise. Fenced code stays as it is; a fence left open ends where a line starts
    with a label that names a call.
    """
    labels = _Labels(refs, tool_names)
    lines = []
    fenced = False
    for line in text.split("\n"):
        if line.lstrip(WHITESPACE).startswith("```"):
            fenced = not fenced
            lines.append(line)
            continue
        leading = _LEADING_LABEL.match(line)
        ref = labels.find_ref(leading[2], leading[3]) if leading else None
        fenced = fenced and ref is None
        lines.append(line if fenced else labels.substitute(line, leading, ref))
    return "\n".join(lines)


class _Labels:
    """The labels that the calls of one batch have."""

    def __init__(self, refs: Sequence[Ref], tool_names: Sequence[str]) -> None:
        self._refs = refs
        self._names = [_folded(name) for name in tool_names[: len(refs)]]

    def find_ref(self, digits: str, name: str) -> Ref | None:
        """The ref of the call that a label names by number and tool."""
        significant = digits.lstrip("0")
        # More digits than the count has cannot match, and Python refuses to read thousands of them.
        if not significant or len(significant) > len(str(len(self._names))):
            return None
        index = int(significant) - 1
        if index < len(self._names) and self._names[index] == _folded(name):
            return self._refs[index]
        return None

    def substitute(self, line: str, leading: re.Match[str] | None, ref: Ref | None) -> str:
        """A line outside of fences; `leading` is the label it starts with, `ref` the ref that this one names."""
        if leading is None:
            return self._drop_named(line)
        start = leading[1] if ref is None else f"{leading[1]}`{ref.short_id}` "
        return start + self._drop_named(line[leading.end() :])

    def _drop_named(self, rest: str) -> str:
        def kept(label: re.Match[str]) -> str:
            return "" if label[3] is not None and self.find_ref(label[1], label[2]) else label[0]

        return _ANY_OPENING.sub(kept, rest)


def _folded(name: str) -> str:
    return trim(name).lower()


def substitute_block_placeholders(
    text: str, lookup: Callable[[str], str | None], own_block_id: str | None = None
) -> str:
    """Replace every `{bN}` by what `lookup` has for it; unknown blocks and the own one stay literal."""

    def replacement(match: re.Match[str]) -> str:
        found = None if match[1] == own_block_id else lookup(match[1])
        return match[0] if found is None else found

    return _PLACEHOLDER.sub(replacement, text)

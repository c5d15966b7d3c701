"""Short refs: the names by which a model asks for originals, and what a summary says about them.

Numbers are taken only when a ref is registered; building refs for a summary that is then rejected costs none.
"""

import re
from collections.abc import Iterable, Sequence

from condense_grpc.domain.batches import Batch, Call, Ref, SummaryDetails

# Bounded, since Python refuses to read integers of thousands of digits.
_BLOCK_ID = re.compile(r"b([0-9]{1,400})")
_SHORT_ID = re.compile(r"t([0-9]{1,400})")
_QUOTED_REF = re.compile(r"`(t[0-9]{1,400})`")
_FOOTER_HEAD = "**Summarized tool refs**: "
_FOOTER_START = f"\n\n---\n{_FOOTER_HEAD}"
_LISTED_REFS = re.compile(re.escape(_FOOTER_HEAD) + r"((?:`t[0-9]{1,400}`,? ?)+)")
_FOOTER_END = "\nUse `context_tree_query` with these refs to retrieve the original full outputs."


def build_short_refs(calls: Iterable[Call], start: int) -> tuple[tuple[Ref, ...], int]:
    """Refs `t<start>`, `t<start+1>`, ... in call order, and the number after the last of them."""
    refs = tuple(
        Ref(f"t{number}", call.tool_call_id, call.result_timestamp_ms, call.occurrence)
        for number, call in enumerate(calls, start)
    )
    return refs, start + len(refs)


def ref_number(short_id: str) -> int | None:
    """The number of a short ref of our own form `t<digits>`; None for any other."""
    match = _SHORT_ID.fullmatch(short_id)
    return int(match[1]) if match else None


def format_refs(refs: Iterable[Ref]) -> str:
    """The footer of a summary: its refs, and how to use them."""
    return f"{_FOOTER_START}{', '.join(f'`{ref.short_id}`' for ref in refs)}{_FOOTER_END}"


def body_of_summary(text: str) -> str:
    """A summary without its footer."""
    return text.rpartition(_FOOTER_START)[0] or text


def refs_in_footers(text: str) -> list[str]:
    """The refs in the footers of summaries, whatever stands around them and is left of them."""
    if _FOOTER_HEAD not in text:
        return []
    return [ref for listed in _LISTED_REFS.finditer(text) for ref in _QUOTED_REF.findall(listed[1])]


def summary_details(batch: Batch, refs: Sequence[Ref]) -> SummaryDetails:
    """What the summary of a batch says about itself."""
    names = tuple(call.tool_name for call in batch.calls)
    return SummaryDetails(tuple(refs), names, batch.turn_index, batch.timestamp_ms)


def next_block_number(block_ids: Iterable[str]) -> int:
    """One more than the highest number among ids of the exact form `b<digits>`; other ids do not count."""
    matches = (_BLOCK_ID.fullmatch(block_id) for block_id in block_ids)
    return 1 + max((int(match[1]) for match in matches if match), default=0)

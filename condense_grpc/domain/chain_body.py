"""What stands for a compressed chain: its body, and the block around it that the model sees.

Bodies and relocated outputs are untrusted, so our delimiters are escaped in them, and block placeholders are
expanded in fused bodies only (before the escaping). A message counts as one of our blocks only by its exact text and
place.
"""

import re
from collections.abc import Callable, Iterable, Sequence

from condense_grpc.domain.entries import ChainEntry
from condense_grpc.domain.index import SessionIndex
from condense_grpc.domain.labels import substitute_block_placeholders
from condense_grpc.domain.messages import Role
from condense_grpc.domain.skeleton import MessageSkeleton

_DELIMITER = re.compile(r"<(?=/?(?:compressed-chain|protected-output))")
_CLOSING_TAG = "\n</compressed-chain>"
_OUTPUT_CLOSING_TAG = "\n</protected-output>"
_OUTPUT_OPENING = re.compile(r'\n\n<protected-output tool="[^"<>]*">(?=\n)')


def escape_delimiters(text: str) -> str:
    """The text with `&lt;` where one of our tags would begin."""
    return _DELIMITER.sub("&lt;", text)


def escape_attribute(value: str) -> str:
    """The value with entities for what would end an attribute or its tag."""
    escaped = value.replace("&", "&amp;").replace("<", "&lt;")
    return escaped.replace(">", "&gt;").replace('"', "&quot;")


def opening_tag(entry: ChainEntry) -> str:
    """The first line of a block."""
    refs = escape_attribute(",".join(entry.tool_refs))
    return f'<compressed-chain id="{escape_attribute(entry.block_id)}" tools="{refs}">'


def chain_body(entry: ChainEntry, index: SessionIndex) -> str:
    """The body as it was decided: the range summary or the summaries of its keys, then the refs beside them."""
    body = entry.range_summary_text
    if body is None:
        body = "\n\n".join(index.summary_texts(entry.dropped_occurrence_keys or entry.dropped_tool_call_ids))
    if not entry.archived_refs:
        return body
    listed = ", ".join(f"{archived.ref} ({archived.tool})" for archived in entry.archived_refs)
    return f"{body}\nAlso archived: {listed}" if body else f"Also archived: {listed}"


def block_body(entry: ChainEntry, index: SessionIndex) -> str:
    """The body as it is inserted: placeholders of a fused one expanded once, our delimiters escaped."""

    def body_of(block_id: str) -> str | None:
        other = index.chain_by_block(block_id)
        return (chain_body(other, index) or None) if other else None

    body = chain_body(entry, index)
    if entry.is_fused:
        body = substitute_block_placeholders(body, body_of, entry.block_id)
    return escape_delimiters(body)


def synthetic_text(entry: ChainEntry, body: str, protected: Iterable[tuple[str, str]] = ()) -> str:
    """The text of a block. `body` comes from `block_body`; `protected` are tool names and texts as they are."""
    outputs = (
        f'\n\n<protected-output tool="{escape_attribute(tool_name)}">\n{escape_delimiters(text)}{_OUTPUT_CLOSING_TAG}'
        for tool_name, text in protected
    )
    return f"{opening_tag(entry)}\n{body}{''.join(outputs)}{_CLOSING_TAG}"


def is_block_text(text: str, entry: ChainEntry, body: str) -> bool:
    """Whether a text is the block of this entry, whatever its protected outputs say."""
    expected = f"{opening_tag(entry)}\n{body}"
    if not text.startswith(expected) or not text.endswith(_CLOSING_TAG):
        return False
    at, end = len(expected), len(text) - len(_CLOSING_TAG)
    while at < end:
        opening = _OUTPUT_OPENING.match(text, at, end + 1)
        closing = text.find(_OUTPUT_CLOSING_TAG, opening.end() + 1, end) if opening else -1
        if opening is None or closing < 0 or _DELIMITER.search(text, opening.end(), closing):
            return False
        at = closing + len(_OUTPUT_CLOSING_TAG)
    return at == end


def blocks_in_place(
    messages: Sequence[MessageSkeleton],
    entries: Sequence[ChainEntry],
    resolve: Callable[[ChainEntry], tuple[int, int] | None],
    index: SessionIndex,
) -> set[int]:
    """Positions of our own blocks: each directly behind the start of its range, with exactly the text we insert."""
    if not any(message.block_text is not None for message in messages):
        return set()
    found: set[int] = set()
    for entry in entries:
        span = resolve(entry)
        if span is None:
            continue
        behind = messages[span[0] + 1]
        text = behind.block_text if behind.role is Role.USER else None
        if text is not None and is_block_text(text, entry, block_body(entry, index)):
            found.add(span[0] + 1)
    return found

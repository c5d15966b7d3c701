"""The render: what the model sees next, from the transcript, the decisions and the settings.

A pure function over skeletons that changes nothing. Phases, each on the output of the one before: view order, stubs,
error purge, chain ranges, orphan sweep.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import field

from condense_grpc.domain.batches import Record
from condense_grpc.domain.chain_body import block_body
from condense_grpc.domain.chain_ranges import ChainPhase, Digests, ResultBody, apply_chain_ranges
from condense_grpc.domain.chains import in_grace
from condense_grpc.domain.config import SessionConfig
from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.index import SessionIndex
from condense_grpc.domain.messages import TOOL_RESULT
from condense_grpc.domain.pairing import Pairs, keys_of, view_order
from condense_grpc.domain.protection import Protection
from condense_grpc.domain.purge import find_purges
from condense_grpc.domain.skeleton import MessageSkeleton
from condense_grpc.domain.sweep import find_orphans, orphan_diagnostic
from condense_grpc.domain.view import Diagnostic, Element, Stub, StubReason, View, list_chars

_MORE = re.compile(r"(?: \(\+[0-9]+ image\(s\)\))?(?: \(\+[0-9]+ part\(s\)\))?")
_MORE_MARK = "\0more\0"


def _no_body(position: int) -> ResultBody:
    raise LookupError(f"the body of message {position} was not fetched")


@frozen
class RenderInput:
    """One list to render. `digests`: rolling digest -> position in the list; `result_body` by position."""

    messages: Sequence[MessageSkeleton]
    index: SessionIndex
    config: SessionConfig
    digests: Digests = field(default_factory=dict)
    result_body: Callable[[int], ResultBody] = _no_body


def render(source: RenderInput) -> View:
    """The view of a list."""
    messages, config = source.messages, source.config
    order = view_order(messages)
    keys, numbers = keys_of(messages)
    elements = [Element(position, messages[position], keys[position], numbers[position]) for position in order]
    before = list_chars(elements)
    ordered = [messages[position] for position in order]
    grace = set(in_grace(ordered, [keys[position] for position in order], config.recovery_grace_turns))
    protection = Protection(config.protected_tools, config.protected_paths)
    for element in elements:
        if element.skeleton.role is TOOL_RESULT and element.key not in grace:
            element.stub = find_stub(element.skeleton, element.key, element.number, source.index, protection)
    for index, purged in find_purges(ordered, Pairs(ordered), config.purge_errors).items():
        elements[index].purged = purged
    elements, diagnostics = _chain_phase(elements, order, source)
    orphans = set(find_orphans([element.skeleton for element in elements]))
    if orphans:
        diagnostics.append(orphan_diagnostic([elements[index].skeleton.tool_call_id for index in sorted(orphans)]))
        elements = [element for index, element in enumerate(elements) if index not in orphans]
    if _is_unchanged(elements, len(messages)):
        return View(tuple(elements), False, 0, 0, tuple(diagnostics))
    return View(tuple(elements), True, before, list_chars(elements), tuple(diagnostics), len(orphans))


def _is_unchanged(elements: Sequence[Element], count: int) -> bool:
    return len(elements) == count and all(
        element.position == index and not element.is_edited for index, element in enumerate(elements)
    )


def _chain_phase(
    elements: list[Element], order: Sequence[int], source: RenderInput
) -> tuple[list[Element], list[Diagnostic]]:
    index, chain_config = source.index, source.config.chain_compression
    entries = index.chains
    if not chain_config.enabled or not entries:
        return elements, []
    place = {position: place for place, position in enumerate(order)}
    phase = ChainPhase(
        entries=entries,
        body_of=lambda entry: block_body(entry, index),
        result_body=source.result_body,
        strip_final_thinking=chain_config.strip_final_assistant_thinking,
        digests={digest: place[position] for digest, position in source.digests.items()},
    )
    return apply_chain_ranges(elements, phase)


def find_stub(
    message: MessageSkeleton, key: str, number: int | None, index: SessionIndex, protection: Protection
) -> Stub | None:
    """The stub for a result; None when it stays: not summarized, protected now, pinned, or already this stub."""
    if index.is_summarized(key):
        lookup = key
    elif number is None and index.legacy_bare(message.tool_call_id):
        lookup = message.tool_call_id
    else:
        return None
    if key in index.pins or lookup in index.pins:
        return None
    record = index.record_of_key(lookup)
    if record is None or protection.call(record.tool_name, record.paths):
        return None
    ref = index.short_ref(lookup) or message.tool_call_id
    if message.stub_text is not None and is_stub_of(message.stub_text, record, ref):
        return None
    text = stub_text(record, ref, more_parts(message))
    if record.spilled:
        reason = StubReason.SPILLED
    else:
        reason = StubReason.DUPLICATE if index.is_alias(lookup) else StubReason.SUMMARIZED
    return Stub(text, ref, reason)


def is_stub_of(text: str, record: Record, ref: str) -> bool:
    """Whether a text is the stub of this record already, whatever parts it says there were beside the text."""
    before, _, behind = stub_text(record, ref, _MORE_MARK).partition(_MORE_MARK)
    more = text[len(before) : len(text) - len(behind)]
    return text == before + more + behind and _MORE.fullmatch(more) is not None


def more_parts(message: MessageSkeleton) -> str:
    """What a stub says about the parts of the result that are not text."""
    images = f" (+{message.images} image(s))" if message.images else ""
    others = f" (+{message.other_parts} part(s))" if message.other_parts else ""
    return images + others


def stub_text(record: Record, ref: str, more: str) -> str:
    """The text of a stub: one line, or five for a spilled result, or six for an imported one with a file."""
    size = "?" if record.spill_bytes is None else record.spill_bytes
    head = f"Tool: {record.tool_name}\nPreview (head):\n{record.result_preview or ''}\n"
    if record.spill_path:
        return (
            f"[Oversized output spilled to file — {size} bytes.{more}]\n{head}"
            f"Full output — read this file (offset/limit supported): {record.spill_path}\n"
            f"Or use context_tree_query with ref `{ref}`."
        )
    if record.spilled:
        return f"[Oversized output archived — {size} bytes.{more}]\n{head}To read: context_tree_query by ref `{ref}`."
    return f"[Summarized in pruner summary, ref `{ref}`. Use context_tree_query to retrieve full output.{more}]"

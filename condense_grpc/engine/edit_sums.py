"""What a list of edits comes to: its revision and its counts, put together from the sums of its pieces.

The sums are sums, so that a piece can be taken out and another one put in: a list that changes in one place costs
what that place costs. A piece must hold all edits of its positions, in the order of the whole list.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import fields
from functools import lru_cache

from condense_grpc.domain.edits import (
    Drop,
    Edit,
    InsertAfter,
    InsertKind,
    MoveAfter,
    PurgeArguments,
    ReplaceResult,
    StripThinking,
)
from condense_grpc.domain.messages import Message, TextPart, text_of
from condense_grpc.domain.skeleton import MessageSkeleton
from condense_grpc.domain.tokens import wide_chars
from condense_grpc.domain.view import StubReason
from condense_grpc.engine.requests import Applied

_MODULUS = 1 << 128

Counts = tuple[int, ...]
"""The members of `Applied`, in their order."""

NO_REVISION = "0"
"""The revision of an empty list."""

NO_COUNTS: Counts = (0,) * len(fields(Applied))
# A turn has no more of them, unless summaries stand in it.
_FEW_EDITS = 8


def sum_of_edits(edits: Iterable[Edit]) -> int:
    """The sum of the hashes of edits, each taken with its rank among those that act at the same place."""
    total, place, rank = 0, None, 0
    for edit in edits:
        if isinstance(edit, Drop):
            data = b"d%d" % edit.message_index
        else:
            acts_at = edit.after_index if isinstance(edit, MoveAfter) else edit.message_index
            rank = rank + 1 if acts_at == place else 0
            place = acts_at
            data = _written(edit, rank).encode("utf-8", "surrogatepass")
        total += int.from_bytes(hashlib.blake2b(data, digest_size=16).digest(), "big")
    return total % _MODULUS


_BLOCK = 256
_SUM_BYTES = 16


@lru_cache(maxsize=1024)
def _block_of_drop_sums(number: int) -> bytes:
    """The sums for the drops from the first position of a block to before each of its positions, and to its end.

    They are the same for every session. Long histories are mostly drops: this way a load need not hash them all.
    """
    sums, total, blake2b = bytearray(_SUM_BYTES), 0, hashlib.blake2b
    for position in range(_BLOCK * number, _BLOCK * (number + 1)):
        total += int.from_bytes(blake2b(b"d%d" % position, digest_size=16).digest())
        sums += (total % _MODULUS).to_bytes(_SUM_BYTES)
    return bytes(sums)


def sum_of_drops(first: int, end: int) -> int:
    """The sum for the drops of all messages from one position to before another one."""
    total, position = 0, first
    while position < end:
        number, start = divmod(position, _BLOCK)
        stop = min(end - _BLOCK * number, _BLOCK)
        sums = _block_of_drop_sums(number)
        total += int.from_bytes(sums[_SUM_BYTES * stop : _SUM_BYTES * (stop + 1)])
        total -= int.from_bytes(sums[_SUM_BYTES * start : _SUM_BYTES * (start + 1)])
        position += stop - start
    return total % _MODULUS


def _written(edit: Edit, rank: int) -> str:
    """An edit as text. No field can be taken for another: texts that are not ours come last, or with their length."""
    match edit:
        case ReplaceResult():
            return f"r{edit.message_index} {rank} {edit.reason} {len(edit.ref)} {edit.ref}{edit.text}"
        case PurgeArguments():
            call_id = edit.tool_call_id
            return f"p{edit.message_index} {rank} {edit.call_index} {len(call_id)} {call_id}{edit.arguments_json}"
        case InsertAfter():
            return f"i{edit.message_index} {rank} {edit.kind} {_content(edit.message)}"
        case MoveAfter():
            return f"m{edit.message_index} {rank} {edit.after_index}"
        case _:
            return f"s{edit.message_index} {rank}"


def _content(message: Message) -> str:
    """What says everything of a message of ours: its source, or its time and parts, of which most are one text."""
    if message.source_json:
        return message.source_json
    first, *rest = message.parts
    if isinstance(first, TextPart) and not first.extra_json:
        return f"{message.timestamp_ms} {len(first.text)} {first.text}{rest or ''}"
    return repr((message.parts, message.timestamp_ms))


def revision_name(edit_sum: int, *, is_empty: bool) -> str:
    """The revision of a list with this sum: equal lists have equal names, also in another process."""
    return NO_REVISION if is_empty else f"{edit_sum:032x}"


def revision_of(edits: Iterable[Edit]) -> str:
    """The revision of a whole list."""
    listed = tuple(edits)
    return revision_name(sum_of_edits(listed), is_empty=not listed)


def wide_gain_of(edits: Iterable[Edit], skeletons: Sequence[MessageSkeleton]) -> int:
    """How many more characters of wide scripts a view has for these edits; `skeletons` are those of the transcript.

    Roughly: what is taken out of a message that stays is not looked into.
    """
    gain = 0
    for edit in edits:
        match edit:
            case Drop():
                gain -= skeletons[edit.message_index].wide_chars
            case ReplaceResult():
                gain += wide_chars(edit.text) - skeletons[edit.message_index].wide_chars
            case InsertAfter():
                gain += wide_chars(text_of(edit.message))
            case _:
                pass
    return gain


def counts_of(edits: Iterable[Edit], *, swept: int) -> Counts:
    """How many of each there are. `swept`: how many of the dropped messages answer no call."""
    kinds: list[object] = [
        edit.reason if isinstance(edit, ReplaceResult) else edit.kind if isinstance(edit, InsertAfter) else type(edit)
        for edit in edits
    ]
    return _counts_of_few(tuple(kinds), swept) if len(kinds) <= _FEW_EDITS else _counts_of_kinds(kinds, swept)


@lru_cache(maxsize=256)
def _counts_of_few(kinds: tuple[object, ...], swept: int) -> Counts:
    """The counts of a turn: most turns have the same few edits."""
    return _counts_of_kinds(kinds, swept)


def _counts_of_kinds(kinds: Sequence[object], swept: int) -> Counts:
    count = kinds.count
    spilled, duplicates = count(StubReason.SPILLED), count(StubReason.DUPLICATE)
    return (
        count(StubReason.SUMMARIZED) + spilled + duplicates,
        count(PurgeArguments),
        count(InsertKind.COMPRESSED_CHAIN),
        count(InsertKind.SUMMARY),
        count(Drop),
        swept,
        count(MoveAfter),
        count(StripThinking),
        spilled,
        duplicates,
    )


_ONE_DROP = counts_of([Drop(0)], swept=0)


def counts_of_drops(count: int) -> Counts:
    """How many there are of each when so many messages are dropped and nothing else happens."""
    return tuple([count * one for one in _ONE_DROP])

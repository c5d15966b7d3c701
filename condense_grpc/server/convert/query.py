"""Recovery queries: their slices and their answers."""

from collections.abc import Mapping, Sequence

from condense_grpc.api.condense.v1 import query_pb2 as pb
from condense_grpc.domain.recovery import QueryAnswer, QueryBlock
from condense_grpc.domain.slices import CharSlice, LineSlice, PatternSlice, Slice
from condense_grpc.engine.requests import CallFacts
from condense_grpc.errors import RequestInvalid
from condense_grpc.server.convert.message import write_parts
from condense_grpc.server.convert.tool_call import write_facts, write_record
from condense_grpc.server.convert.wire_text import wire_text
from condense_grpc.server.limits import MAX_QUERY_CHARS, MAX_QUERY_REFS


def read_slices(request: pb.QueryToolCallRequest) -> list[Slice]:
    """The slices of a query, after its size was checked. Raises RequestInvalid."""
    for field, count in (("refs", len(request.refs)), ("slices", len(request.slices))):
        if count > MAX_QUERY_REFS:
            raise RequestInvalid(field, f"has {count} members, at most {MAX_QUERY_REFS} are allowed: ask in parts")
    slices = [_read_slice(piece, f"slices[{index}]") for index, piece in enumerate(request.slices)]
    sliced: dict[str, int] = {}
    for piece in slices:
        sliced[piece.ref] = sliced.get(piece.ref, 0) + 1
    blocks = sum(sliced.get(ref, 1) for ref in request.refs)
    if blocks > MAX_QUERY_REFS:
        raise RequestInvalid("slices", f"ask for {blocks} blocks, at most {MAX_QUERY_REFS} are allowed: ask in parts")
    return slices


def _read_slice(piece: pb.Slice, field: str) -> Slice:
    max_chars = piece.max_chars if piece.HasField("max_chars") else None
    if max_chars is not None and max_chars < 1:
        raise RequestInvalid(f"{field}.max_chars", f"must be at least 1, not {max_chars}")
    return Slice(piece.ref, _read_selection(piece, field), max_chars)


def _read_selection(piece: pb.Slice, field: str) -> LineSlice | CharSlice | PatternSlice | None:
    match piece.WhichOneof("selection"):
        case "lines":
            start = max(1, piece.lines.start_line)
            count = piece.lines.line_count if piece.lines.HasField("line_count") else None
            return LineSlice(start, None if count is None else start + count - 1)
        case "chars":
            end = piece.chars.end_char if piece.chars.HasField("end_char") else None
            return CharSlice(piece.chars.start_char, end)
        case "pattern":
            return _read_pattern(piece.pattern, f"{field}.pattern")
        case _:
            return None


def _read_pattern(pattern: pb.PatternMatch, field: str) -> PatternSlice:
    if len(pattern.pattern) > MAX_QUERY_CHARS:
        raise RequestInvalid(
            f"{field}.pattern", f"has {len(pattern.pattern)} characters, at most {MAX_QUERY_CHARS} are allowed"
        )
    return PatternSlice(pattern.pattern, pattern.regex, max(0, pattern.context_lines))


def write_answer(refs: Sequence[str], answer: QueryAnswer, facts: Mapping[str, CallFacts]) -> pb.QueryToolCallResponse:
    """One result per ref as requested, in order; their blocks come in the same order. `facts` by occurrence key."""
    written = pb.QueryToolCallResponse(text=wire_text(answer.text))
    at = 0
    for ref, count in zip(refs, _blocks_per_ref(refs, answer.blocks), strict=True):
        result = written.results.add(requested=ref)
        for block in answer.blocks[at : at + count]:
            result.found |= block.record is not None
            _write_block(block, result.blocks.add(), facts)
        at += count
    return written


def _blocks_per_ref(refs: Sequence[str], blocks: Sequence[QueryBlock]) -> list[int]:
    """How many blocks each ref has. A ref that is asked for twice has the same number both times."""
    asked = {ref: refs.count(ref) for ref in refs}
    found: dict[str, int] = {}
    for block in blocks:
        found[block.request] = found.get(block.request, 0) + 1
    return [found.get(ref, 0) // asked[ref] for ref in refs]


def _write_block(block: QueryBlock, target: pb.QueryBlock, facts: Mapping[str, CallFacts]) -> None:
    target.label = wire_text(block.label)
    target.block_text = wire_text(block.text)
    if block.record is not None and block.record.key in facts:
        write_facts(facts[block.record.key], target.record)
    elif block.record is not None:
        write_record(block.record, target.record)
    if block.cut is not None:
        target.text = wire_text(block.cut.text)
        target.truncated = block.cut.truncated
        target.shown_lines = block.cut.shown_lines
        target.shown_chars = len(block.cut.text)
    target.total_lines = block.total_lines
    target.total_chars = block.total_chars
    write_parts(block.parts, target.parts)
    if block.slice_index is not None:
        target.slice_index = block.slice_index


def write_chunk(
    data: bytes, offset_bytes: int, total_bytes: int, facts: CallFacts | None = None
) -> pb.ReadToolResultResponse:
    """One chunk of an original; the first one carries the record."""
    chunk = pb.ReadToolResultResponse(found=True, offset_bytes=offset_bytes, data=data, total_bytes=total_bytes)
    if facts is not None:
        write_facts(facts, chunk.record)
    return chunk

"""The recovery query: originals given back, whole or in slices, as the text that a model reads.

Requests are taken as they are: no cleaning, no removal of duplicates. What the index does not know is answered by a
block that says so. Bodies come from the caller, who can ask beforehand which records an answer needs.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from condense_grpc.domain.batches import Record
from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.json_text import parse_or_text, pretty
from condense_grpc.domain.matching_lines import MatcherOf, cut_pattern
from condense_grpc.domain.messages import ImagePart, Part, TextPart
from condense_grpc.domain.occurrence import occurrence_key
from condense_grpc.domain.slices import CharSlice, Cut, LineSlice, PatternSlice, Slice, cut_chars, cut_lines, cut_whole
from condense_grpc.domain.text import count_lines

TOOL_NAME = "context_tree_query"
NO_FILE = "(spilled output unavailable — sidecar file missing)"


@frozen
class RecordBody:
    """What a record does not hold in memory. `parts` is the complete part list, or nothing if all of it is text."""

    text: str
    args_json: str
    parts: tuple[Part, ...] = ()


@frozen
class QueryBlock:
    """One block of an answer: a record or one slice of it, or without record the word that there is none.

    `text` is the whole block for the model, `cut` what is shown of the result, `total_chars` and `total_lines` measure
    the whole result, `slice_index` counts over the slices of the query. `parts` are those that are not text.
    """

    request: str
    label: str
    text: str
    record: Record | None = None
    cut: Cut | None = None
    total_chars: int = 0
    total_lines: int = 0
    parts: tuple[Part, ...] = ()
    slice_index: int | None = None


@frozen
class QueryAnswer:
    """The blocks in order of the requests, and their text as one."""

    blocks: tuple[QueryBlock, ...] = ()

    @property
    def text(self) -> str:
        """What to hand to the model."""
        return "\n\n---\n\n".join(block.text for block in self.blocks)

    @property
    def found(self) -> dict[str, str]:
        """Label -> key of the record; of equal labels the later wins."""
        return {block.label: block.record.key for block in self.blocks if block.record}

    @property
    def parts(self) -> dict[str, tuple[Part, ...]]:
        """Label -> parts that are not text, for the blocks that have some."""
        return {block.label: block.parts for block in self.blocks if block.parts}


class Names(Protocol):
    """Knows what names stand for."""

    def records(self, name: str) -> list[Record]:
        """The records of a name, in the order in which they are shown."""
        ...


def requested_records(index: Names, requests: Iterable[str]) -> list[Record]:
    """The records that an answer needs the bodies of, each once."""
    found = {record.key: record for request in dict.fromkeys(requests) for record in index.records(request)}
    return list(found.values())


def answer(
    requests: Sequence[str],
    slices: Sequence[Slice],
    index: Names,
    body_of: Callable[[Record], RecordBody],
    *,
    files: Mapping[str, str] | None = None,
    matcher_of: MatcherOf | None = None,
) -> QueryAnswer:
    """Answer a query. `files`: texts that an import brought along, by path; `matcher_of` reads expressions.

    Slices of results that are not requested are ignored.
    """
    sliced: dict[str, list[tuple[int, Slice]]] = {}
    for number, one in enumerate(slices):
        sliced.setdefault(one.ref, []).append((number, one))
    reader = _Reader(body_of, files or {}, matcher_of)
    blocks: list[QueryBlock] = []
    for request in requests:
        records = index.records(request)
        if not records:
            text = f"## toolRef: {request}\n(not found in index — may not have been summarized yet)"
            blocks.append(QueryBlock(request, request, text))
        for record in records:
            blocks += reader.blocks(request, record, sliced.get(request, ()), is_only=len(records) == 1)
    return QueryAnswer(tuple(blocks))


@frozen
class _Reader:
    """Makes the blocks of records."""

    body_of: Callable[[Record], RecordBody]
    files: Mapping[str, str]
    matcher_of: MatcherOf | None

    def blocks(
        self, request: str, record: Record, slices: Sequence[tuple[int, Slice]], *, is_only: bool
    ) -> list[QueryBlock]:
        """One block for each slice, or one for the whole."""
        body = self.body_of(record)
        text = self._text(record, body)
        label = request if is_only else occurrence_key(request, record.result_timestamp_ms, record.occurrence)
        heading = _heading(label, record, body, is_only=is_only)
        page = _Page(request, label, record, heading, len(text), count_lines(text))
        if not slices:
            other = tuple(part for part in body.parts if not isinstance(part, TextPart))
            return [page.block(cut_whole(text), parts=other)]
        return [page.block(self._cut(text, one), slice_index=number) for number, one in slices]

    def _text(self, record: Record, body: RecordBody) -> str:
        """The result; for an imported one in a file the file, else its preview, else the word that it is missing."""
        if body.text or record.spill_path is None:
            return body.text
        return self.files.get(record.spill_path, record.result_preview or NO_FILE)

    def _cut(self, text: str, one: Slice) -> Cut:
        match one.selection:
            case LineSlice() as lines:
                return cut_lines(text, lines, one.max_chars)
            case CharSlice() as chars:
                return cut_chars(text, chars, one.max_chars)
            case PatternSlice() as pattern:
                return cut_pattern(text, pattern, one.max_chars, self.matcher_of)
            case None:
                return cut_whole(text, one.max_chars)


def _heading(label: str, record: Record, body: RecordBody, *, is_only: bool) -> str:
    lines = [f"## toolRef: {label}"]
    if not is_only and record.result_timestamp_ms is None:
        lines.append("Occurrence: legacy (no resultTimestamp)")
    lines += [
        f"Tool: {record.tool_name}",
        f"Args: {pretty(parse_or_text(body.args_json))}",
        f"Status: {'ERROR' if record.is_error else 'OK'}",
        f"Turn: {'unknown' if record.turn_index is None else record.turn_index}",
    ]
    return "\n".join(lines)


@frozen
class _Page:
    """One record, ready to be shown in pieces."""

    request: str
    label: str
    record: Record
    heading: str
    total_chars: int
    total_lines: int

    def block(self, cut: Cut, parts: tuple[Part, ...] = (), slice_index: int | None = None) -> QueryBlock:
        """The block that shows a cut."""
        named = f"\nSlice: {cut.what}" if cut.what else ""
        attached = f"\n{_attached(parts)}" if parts else ""
        return QueryBlock(
            request=self.request,
            label=self.label,
            text=f"{self.heading}{named}\n\n{cut.body}{attached}",
            record=self.record,
            cut=cut,
            total_chars=self.total_chars,
            total_lines=self.total_lines,
            parts=parts,
            slice_index=slice_index,
        )


def _attached(parts: Sequence[Part]) -> str:
    images = sum(isinstance(part, ImagePart) for part in parts)
    counts = [(images, "image(s)"), (len(parts) - images, "part(s)")]
    return f"[Attached: {', '.join(f'{count} {kind}' for count, kind in counts if count)}]"

"""Compression of finished chains: what a chain did is replaced by one block, and nothing of it is lost.

Before a chain goes, every result in it that has no record is archived, and everything in it gets a ref. The decisions
come back as entries in the order in which they were taken; they are applied to the index on the way, since the next
chain must see them. Fusing asks a model and is therefore a step of its own: `fusible_chains` first, then `compress`
with the answers. Neither reads a body that `bodies_wanted` does not name.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum

from condense_grpc.domain.archive import Candidate, archived_record, as_filed, build_deterministic_body
from condense_grpc.domain.batches import Record, Ref
from condense_grpc.domain.chain_survey import ChainSurvey, CompressionInput, survey_of
from condense_grpc.domain.chains import Chain
from condense_grpc.domain.diagnostics import DiagnosticKind
from condense_grpc.domain.entries import ArchivedRef, ChainEntry, Entry, IndexEntry
from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.occurrence import parse_key
from condense_grpc.domain.text import is_blank
from condense_grpc.domain.view import Diagnostic


class SkippedChainReason(StrEnum):
    """Why a closed chain was not compressed."""

    ALREADY_COMPRESSED = "already-compressed"
    NO_SUMMARY = "no-summary"


@frozen
class SkippedChain:
    """A closed chain that stays as it is. `start` is the position of its first message in the stored order."""

    start_user_timestamp_ms: int | None
    reason: SkippedChainReason
    start: int = -1


@frozen
class CompressionOutcome:
    """What was done. `entries` are all new entries in append order, the blocks among them."""

    blocks: tuple[ChainEntry, ...]
    skipped: tuple[SkippedChain, ...]
    entries: tuple[Entry, ...]
    diagnostics: tuple[Diagnostic, ...]


def compress(
    source: CompressionInput | ChainSurvey, fused: Mapping[str, str | None] | None = None
) -> CompressionOutcome:
    """Compress every eligible chain. `fused`: answers by start key; a missing or blank one leaves the summaries.

    The new entries are applied to the index on the way. Doing it again with the same input changes nothing.
    """
    return _Compressor(survey_of(source), fused or {}).run()


class _Compressor:
    """One run over the eligible chains."""

    def __init__(self, survey: ChainSurvey, fused: Mapping[str, str | None]) -> None:
        self._source = survey.source
        self._index = survey.source.index
        self._fused = fused
        self._survey = survey
        self._blocks: list[ChainEntry] = []
        self._skipped: list[SkippedChain] = []
        self._entries: list[Entry] = []
        self._diagnostics: list[Diagnostic] = []
        self._fresh_args: dict[str, str] = {}

    def run(self) -> CompressionOutcome:
        for chain in self._survey.registered:
            self._skip(chain, SkippedChainReason.ALREADY_COMPRESSED)
        for chain in self._survey.eligible:
            self._compress(chain)
        return CompressionOutcome(
            tuple(self._blocks), tuple(self._skipped), tuple(self._entries), tuple(self._diagnostics)
        )

    def _skip(self, chain: Chain, reason: SkippedChainReason) -> None:
        start = self._survey.order[chain.start]
        self._skipped.append(SkippedChain(chain.start_user_timestamp_ms, reason, start))

    def _take(self, entry: Entry) -> None:
        self._index.apply(entry)
        self._entries.append(entry)

    def _compress(self, chain: Chain) -> None:
        keys = chain.lookup_keys
        fresh = self._survey.candidates(chain)
        covered = self._index.covers_any(keys)
        if not covered and not fresh and not any(map(self._index.is_summarized, keys)):
            self._skip(chain, SkippedChainReason.NO_SUMMARY)
            if not set(chain.middle_tool_call_ids) <= set(chain.protected_tool_call_ids):
                self._report_empty(chain)
            return
        self._archive(chain, fresh)
        refs = tuple(dict.fromkeys(self._index.refs_for(keys)))
        text = self._fused_text(chain) if covered else self._deterministic_text(keys, refs)
        entry = ChainEntry(
            block_id=f"b{self._index.next_block_number}",
            start_user_timestamp_ms=chain.start_user_timestamp_ms or 0,
            dropped_tool_call_ids=chain.middle_tool_call_ids,
            final_assistant_timestamp_ms=chain.final_assistant_timestamp_ms,
            tool_refs=refs,
            compressed_at_ms=self._source.now_ms,
            range_summary_text=text,
            body_source=None if covered else "deterministic",
            archived_refs=self._refs_beside_summaries(keys) if covered else (),
            protected_tool_call_ids=chain.protected_tool_call_ids,
            dropped_occurrence_keys=chain.middle_occurrence_keys,
            start_digest=self._survey.digest_at(chain.start),
            final_digest=self._survey.digest_at(chain.final),
        )
        self._take(entry)
        self._blocks.append(entry)

    def _report_empty(self, chain: Chain) -> None:
        key = str(chain.start_user_timestamp_ms)
        detail = f"middles={len(chain.middle_tool_call_ids)}"
        self._diagnostics.append(Diagnostic(DiagnosticKind.BACKFILL_EMPTY, key, detail))

    def _archive(self, chain: Chain, fresh: Sequence[Candidate]) -> None:
        """File what has no record, and give a ref to everything that has none, in key order."""
        candidates = {candidate.key: candidate for candidate in fresh}
        bodies = self._survey.bodies()
        protected = set(chain.protected_tool_call_ids)
        records: list[Record] = []
        unnamed: dict[str, Ref] = {}
        for key in chain.lookup_keys:
            record: Record | None
            if key in candidates:
                owner, record = key, archived_record(candidates[key], bodies)
                self._fresh_args[key] = record.args_json or ""
                records.append(as_filed(record))
            elif self._is_nameless(key) and self._survey.id_of_key.get(key, key) not in protected:
                owner = self._owner_of_ref(key)
                record = self._index.record_of_key(owner)
            else:
                continue
            if owner not in unnamed:
                unnamed[owner] = _ref(f"t{self._index.next_ref_number + len(unnamed)}", owner, record)
        if unnamed:
            self._take(IndexEntry(tuple(records), tuple(unnamed.values()), backfilled=True))

    def _is_nameless(self, key: str) -> bool:
        return self._index.is_summarized(key) and self._index.short_ref(key) is None

    def _owner_of_ref(self, key: str) -> str:
        """The key that carries the ref: a duplicate's is its original."""
        seen = {key}
        while (original := self._index.original_of(key)) is not None and original not in seen:
            seen.add(original)
            key = original
        return key

    def _fused_text(self, chain: Chain) -> str | None:
        text = self._fused.get(self._survey.start_key(chain))
        return None if text is None or is_blank(text) else text

    def _deterministic_text(self, keys: Sequence[str], refs: Sequence[str]) -> str:
        known = map(self._index.record_of_key, keys)
        records = [record for record in known if record is not None]
        return build_deterministic_body(records, refs, self._args_of)

    def _args_of(self, record: Record) -> str:
        held = self._fresh_args.get(record.key, record.args_json)
        return self._source.args_of(record) if held is None else held

    def _refs_beside_summaries(self, keys: Sequence[str]) -> tuple[ArchivedRef, ...]:
        """Refs of the chain that none of its summaries covers, each once."""
        index = self._index
        sharing = index.summaries_sharing(keys)
        covered = {ref for number in sharing for ref in index.refs_for(index.summary_keys(number))}
        found: dict[str, ArchivedRef] = {}
        for key in keys:
            ref, record = index.short_ref(key), index.record_of_key(key)
            if ref is not None and record is not None and ref not in covered and ref not in found:
                found[ref] = ArchivedRef(ref, record.tool_name)
        return tuple(found.values())


def _ref(short_id: str, key: str, record: Record | None) -> Ref:
    if record is None:
        parsed = parse_key(key)
        return Ref(short_id, parsed.tool_call_id, parsed.result_timestamp_ms, parsed.occurrence)
    return Ref(short_id, record.tool_call_id, record.result_timestamp_ms, record.occurrence)

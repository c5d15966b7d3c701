"""Runners of the index, of spilling and of the recovery query."""

from typing import Any

from condense_grpc.domain.batches import Record, RecordContext
from condense_grpc.domain.entries import AliasEntry, Entry, IndexEntry
from condense_grpc.domain.index import SessionIndex
from condense_grpc.domain.pi_entries import entry_from_pi
from condense_grpc.domain.pi_json import part_to_pi
from condense_grpc.domain.pi_records import batch_from_pi, without_none
from condense_grpc.domain.recovery import RecordBody, answer
from condense_grpc.domain.slices import CharSlice, LineSlice, PatternSlice, Slice
from condense_grpc.domain.spill import spill_calls
from condense_grpc.domain.text import content_hash
from tests.vectorkit.registry import operation


def entries_from(values: list[Any]) -> list[Entry]:
    """The entries that the index looks at."""
    return [entry for entry in map(entry_from_pi, values) if entry is not None]


@operation("indexer")
def indexer(given: dict[str, Any]) -> dict[str, Any]:
    index = SessionIndex.rebuild(entries_from(given["entries"]))
    asked = {
        "isSummarized": index.is_summarized,
        "resolve": index.resolve,
        "record": lambda name: _shown(index.record(name)),
        "records": lambda name: [_shown(record) for record in index.records(name)],
        "shortRef": index.short_ref,
        "legacyBare": index.legacy_bare,
        "byContent": lambda content: index.by_content(
            content_hash(content["toolName"], content["text"]), content.get("isError") is True
        ),
        "coversAny": index.covers_any,
        "summaryText": lambda keys: "\n\n".join(index.summary_texts(keys)),
        "toolRefs": index.refs_for,
        "chainByBlock": lambda block: _start(index, block),
    }
    answers: dict[str, Any] = {
        kind: [asked[kind](query) for query in queries] for kind, queries in given["queries"].items() if kind in asked
    }
    answers["chains"] = [chain.block_id for chain in index.chains]
    answers["nextRef"] = f"t{index.next_ref_number}"
    return answers


def _shown(record: Record | None) -> dict[str, Any] | None:
    if record is None:
        return None
    return {"key": record.key, "text": record.text, "turnIndex": record.turn_index}


def _start(index: SessionIndex, block: str) -> int | None:
    chain = index.chain_by_block(block)
    return None if chain is None else chain.start_user_timestamp_ms


@operation("spill")
def spill(given: dict[str, Any]) -> dict[str, Any]:
    index = SessionIndex.rebuild(entries_from(given["entries"]))
    batch, config = batch_from_pi(given["batch"]), given["config"]
    context = RecordContext(batch.turn_index, batch.timestamp_ms, tuple(config.get("pathArguments", ["path"])))
    outcome = spill_calls(
        index,
        batch.calls,
        context,
        threshold=config["spillThreshold"],
        preview_bytes=config["spillPreviewBytes"],
        dedup=config["dedupByContentHash"],
    )
    records = [record for entry in outcome.entries if isinstance(entry, IndexEntry) for record in entry.records]
    aliases = [entry for entry in outcome.entries if isinstance(entry, AliasEntry)]
    return {
        "handled": sorted(outcome.handled),
        "records": [
            {
                "key": record.key,
                "ref": index.short_ref(record.key),
                "spilled": record.spilled,
                "spillBytes": record.spill_bytes,
                "resultPreview": record.result_preview,
            }
            for record in records
        ],
        "aliases": [
            without_none({"key": alias.new_key, "original": alias.original_key, "ref": index.short_ref(alias.new_key)})
            for alias in aliases
        ],
    }


@operation("query")
def query(given: dict[str, Any]) -> dict[str, Any]:
    index = SessionIndex.rebuild(entries_from(given["entries"]))
    slices = [slice_of(value) for value in given.get("slices") or []]
    found = answer(given["ids"], slices, index, _body, files=given.get("files") or {})
    shown: dict[str, Any] = {"text": found.text, "found": found.found}
    parts = {label: [part_to_pi(part) for part in parts] for label, parts in found.parts.items()}
    return shown | ({"parts": parts} if parts else {})


def slice_of(value: dict[str, Any]) -> Slice:
    if "lines" in value:
        return Slice(value["ref"], LineSlice(*value["lines"]))
    if "chars" in value:
        return Slice(value["ref"], CharSlice(*value["chars"]))
    return Slice(value["ref"], PatternSlice(value["pattern"]))


def _body(record: Record) -> RecordBody:
    return RecordBody(record.text or "", record.args_json or "{}", record.parts)

"""Runners of chains: detection, eligibility, archive, compression, ranges, and the metrics over a transcript."""

from typing import Any

from condense_grpc.domain.archive import Bodies, archive_candidates, archived_record, build_deterministic_body
from condense_grpc.domain.batches import Record
from condense_grpc.domain.chain_survey import CompressionInput, fusible_chains
from condense_grpc.domain.chains import (
    Chain,
    detect_chains,
    in_grace,
    resolve_range,
    select_eligible,
    with_closing_message,
)
from condense_grpc.domain.compression import compress
from condense_grpc.domain.entries import ChainEntry, Entry, IndexEntry
from condense_grpc.domain.index import SessionIndex
from condense_grpc.domain.json_text import compact
from condense_grpc.domain.messages import Message
from condense_grpc.domain.metrics import MetricsInput, compute_context_metrics
from condense_grpc.domain.pairing import keys_of
from condense_grpc.domain.pi_entries import chain_to_pi, entry_from_pi, frontier_from_pi, metrics_to_pi
from condense_grpc.domain.pi_json import message_from_pi, message_to_pi, number_or_none
from condense_grpc.domain.pi_records import record_from_pi, record_to_pi, ref_to_pi, strings_in
from condense_grpc.domain.protection import Protection
from condense_grpc.domain.skeleton import skeletons_of
from tests.vectorkit.ops_render import config_of
from tests.vectorkit.registry import operation

Json = dict[str, Any]


def messages_of(value: Any) -> list[Message]:
    return [message_from_pi(item) for item in value] if isinstance(value, list) else []


def protection_of(config: Json) -> Protection:
    return Protection(strings_in(config.get("protectedTools")), strings_in(config.get("protectedPaths")))


def path_arguments_of(config: Json) -> tuple[str, ...]:
    return strings_in(config["pathArguments"]) if "pathArguments" in config else ("path",)


def boundaries_of(value: Json) -> ChainEntry:
    final = number_or_none(value.get("finalAssistantTimestamp"))
    return ChainEntry("", number_or_none(value.get("startUserTimestamp")) or 0, final_assistant_timestamp_ms=final)


def chain_of(value: Json, position: int) -> Chain:
    final = number_or_none(value.get("finalAssistantTimestamp"))
    return Chain(
        start=position,
        final=None if final is None else position,
        start_user_timestamp_ms=number_or_none(value.get("startUserTimestamp")),
        final_assistant_timestamp_ms=final,
        middle_tool_call_ids=strings_in(value.get("middleToolCallIds")),
        middle_occurrence_keys=strings_in(value.get("middleOccurrenceKeys")),
        protected_tool_call_ids=strings_in(value.get("protectedToolCallIds")),
    )


@operation("detect_chains")
def run_detect_chains(given: Json) -> list[Json]:
    messages = skeletons_of(messages_of(given["messages"]), path_arguments_of(given["config"]))
    chains = detect_chains(messages, keys_of(messages)[0], protection_of(given["config"]))
    return [
        {
            "startUserTimestamp": chain.start_user_timestamp_ms,
            "middleToolCallIds": chain.middle_tool_call_ids,
            "middleOccurrenceKeys": chain.middle_occurrence_keys,
            "protectedToolCallIds": chain.protected_tool_call_ids,
            "finalAssistantTimestamp": chain.final_assistant_timestamp_ms,
        }
        for chain in chains
    ]


@operation("with_closing_message")
def run_with_closing_message(given: Json) -> Json:
    messages = messages_of(given["messages"])
    closing = None if given["closing"] is None else message_from_pi(given["closing"])
    closed = with_closing_message(messages, closing)
    return {
        "appended": len(closed) > len(messages),
        "length": len(closed),
        "last": message_to_pi(closed[-1]) if closed else None,
    }


@operation("in_grace")
def run_in_grace(given: Json) -> list[str]:
    messages = skeletons_of(messages_of(given["messages"]), ())
    return sorted(in_grace(messages, keys_of(messages)[0], given["graceTurns"]))


@operation("select_eligible")
def run_select_eligible(given: Json) -> list[int]:
    chains = [chain_of(value, position) for position, value in enumerate(given["chains"])]
    compressed = set(given["alreadyCompressed"])
    chosen = select_eligible(
        chains,
        given["rollingWindow"],
        lambda chain: chain.start_user_timestamp_ms in compressed,
        set(given["inGrace"]),
        set(given.get("pending", ())),
    )
    return [chain.start for chain in chosen]


@operation("extract_chain_records")
def run_extract_chain_records(given: Json) -> list[Json]:
    messages = messages_of(given["messages"])
    skeletons = skeletons_of(messages, ("path",))
    chain = given["chain"]
    span = resolve_range(boundaries_of(chain), skeletons)
    if span is None:
        return []
    candidates = archive_candidates(
        skeletons,
        keys_of(skeletons),
        span,
        set(strings_in(chain.get("protectedToolCallIds"))),
        set(given["indexed"]).__contains__,
    )
    bodies = Bodies(messages.__getitem__)
    return [record_to_pi(archived_record(candidate, bodies)) for candidate in candidates]


@operation("build_deterministic_body")
def run_build_deterministic_body(given: Json) -> str:
    records = [(record_from_pi(value), value) for value in given["records"] if isinstance(value, dict)]
    known = [(record, value) for record, value in records if record is not None]
    written = {id(record): compact(value["args"]) if "args" in value else "" for record, value in known}

    def args_of(record: Record) -> str:
        return written[id(record)]

    return build_deterministic_body([record for record, _ in known], given["refs"], args_of)


@operation("resolve_range")
def run_resolve_range(given: Json) -> Json | None:
    found = resolve_range(boundaries_of(given["entry"]), skeletons_of(messages_of(given["messages"]), ()))
    return None if found is None else {"startIndex": found[0], "endIndex": found[1]}


@operation("compute_context_metrics")
def run_compute_context_metrics(given: Json) -> Json:
    config = given["config"]
    messages = skeletons_of(messages_of(given["branch"]), path_arguments_of(config))
    metrics = compute_context_metrics(
        MetricsInput(
            messages,
            keys_of(messages)[0],
            set(given["summarized"]).__contains__,
            protection_of(config),
            frontier_from_pi(given.get("frontier")),
        )
    )
    return metrics_to_pi(metrics)


def args_of_record(record: Record) -> str:
    return record.args_json or ""


def compression_input_of(given: Json) -> CompressionInput:
    config = config_of(given["config"])
    closing = None if given.get("closing") is None else message_from_pi(given["closing"])
    messages = with_closing_message(messages_of(given["messages"]), closing)
    read = (entry_from_pi(value, config.path_arguments) for value in given["entries"])
    return CompressionInput(
        messages=skeletons_of(messages, config.path_arguments),
        index=SessionIndex.rebuild(entry for entry in read if entry is not None),
        config=config,
        now_ms=given["now"],
        rolling_window=given["rollingWindow"],
        message_at=messages.__getitem__,
        args_of=args_of_record,
        pending=set(given.get("pending", ())),
    )


def appended_entry(entry: Entry) -> Json:
    if isinstance(entry, ChainEntry):
        return {"customType": "context-prune-chain", "data": chain_to_pi(entry)}
    assert isinstance(entry, IndexEntry) and entry.backfilled
    data = {
        "toolCalls": [record_to_pi(record) for record in entry.records],
        "backfilled": True,
        "refs": [ref_to_pi(ref) for ref in entry.refs or ()],
    }
    return {"customType": "context-prune-index", "data": data}


@operation("compress_eligible")
def run_compress_eligible(given: Json) -> Json:
    source = compression_input_of(given)
    asked = fusible_chains(source) if "fuse" in given else []
    answer = given["fuse"].get("text") if asked else None  # a fuser that throws gives none
    outcome = compress(source, {chain.start_key: answer for chain in asked})
    return {
        "blocks": [block.block_id for block in outcome.blocks],
        "skipped": [
            {"startUserTimestamp": chain.start_user_timestamp_ms, "reason": chain.reason} for chain in outcome.skipped
        ],
        "appended": [appended_entry(entry) for entry in outcome.entries],
        "diagnostics": [{"kind": item.kind, "detail": item.detail} for item in outcome.diagnostics],
        "fused": [chain.text for chain in asked],
    }

"""Runners of the pure helpers: keys, texts, globs, refs, labels, numbers, status, diagnostics, loading."""

from dataclasses import asdict
from typing import Any

from condense_grpc.domain.arguments import paths_in
from condense_grpc.domain.budget import Usage, should_budget_flush, should_delta_flush, usage_fraction
from condense_grpc.domain.config import SessionConfig
from condense_grpc.domain.diagnostics import DiagnosticKind, DiagnosticSink
from condense_grpc.domain.entries import ContextMetrics, DiagnosticEntry
from condense_grpc.domain.globs import glob_matches
from condense_grpc.domain.json_text import compact
from condense_grpc.domain.labels import substitute_block_placeholders, substitute_labels
from condense_grpc.domain.messages import text_of
from condense_grpc.domain.numbers import format_char_progress, format_compact_count, format_cost
from condense_grpc.domain.occurrence import occurrence_key, parse_key
from condense_grpc.domain.payload import serialize_batch
from condense_grpc.domain.pi_entries import entry_from_pi, frontier_to_pi, stats_to_pi
from condense_grpc.domain.pi_json import message_from_pi
from condense_grpc.domain.pi_records import (
    batch_from_pi,
    call_from_pi,
    details_from_pi,
    details_to_pi,
    ref_to_pi,
    refs_from_pi,
    without_none,
)
from condense_grpc.domain.protection import Protection
from condense_grpc.domain.refs import build_short_refs, format_refs, next_block_number, summary_details
from condense_grpc.domain.stats import SummaryUsage, add_usage, load_frontier, load_stats, stats_since
from condense_grpc.domain.status import Reclaim, status_line
from condense_grpc.domain.text import content_hash, head_preview, truncate_head
from condense_grpc.domain.usability import is_usable_summary
from tests.vectorkit.registry import operation

Input = dict[str, Any]


@operation("occ_key")
def run_occ_key(given: Input) -> Any:
    return occurrence_key(given["toolCallId"], given.get("resultTimestamp"), given.get("occurrence"))


@operation("parse_occ_key")
def run_parse_occ_key(given: Input) -> Any:
    key = parse_key(given["key"])
    named = {
        "toolCallId": key.tool_call_id,
        "resultTimestamp": key.result_timestamp_ms,
        "occurrence": key.occurrence,
    }
    return without_none(named | {"bare": key.tool_call_id})


@operation("hash_tool_result")
def run_hash_tool_result(given: Input) -> Any:
    return content_hash(given["toolName"], given["text"])


@operation("glob_match")
def run_glob_match(given: Input) -> Any:
    return glob_matches(given["pattern"], given["path"])


@operation("is_protected")
def run_is_protected(given: Input) -> Any:
    protection = Protection(tuple(given["protectedTools"]), tuple(given["protectedPaths"]))
    names = tuple(given.get("pathArguments", ["path"]))
    return protection.call(given["toolName"], paths_in(compact(given["args"]), names))


@operation("head_preview")
def run_head_preview(given: Input) -> Any:
    return head_preview(given["text"], given["maxBytes"])


@operation("truncate_head")
def run_truncate_head(given: Input) -> Any:
    head = truncate_head(given["content"], given["maxLines"], given["maxBytes"])
    return {
        "content": head.content,
        "truncated": head.truncated,
        "outputLines": head.shown_lines,
        "totalLines": head.total_lines,
    }


@operation("extract_text")
def run_extract_text(given: Input) -> Any:
    return text_of(message_from_pi({"role": "toolResult", **given["message"]}))


@operation("build_short_refs")
def run_build_short_refs(given: Input) -> Any:
    refs, following = build_short_refs(map(call_from_pi, given["calls"]), given["startIndex"])
    return {"refs": [ref_to_pi(ref) for ref in refs], "nextIndex": following}


@operation("normalize_refs")
def run_normalize_refs(given: Input) -> Any:
    return [ref_to_pi(ref) for ref in details_from_pi(given["details"]).refs]


@operation("format_refs")
def run_format_refs(given: Input) -> Any:
    return format_refs(refs_from_pi(given["refs"]))


@operation("summary_details")
def run_summary_details(given: Input) -> Any:
    return details_to_pi(summary_details(batch_from_pi(given["batch"]), refs_from_pi(given["refs"])))


@operation("block_ref_issuer")
def run_block_ref_issuer(given: Input) -> Any:
    first = next_block_number(block_id for block_id in given["existing"] if isinstance(block_id, str))
    return [f"b{number}" for number in range(first, first + given["n"])]


@operation("substitute_inline_refs")
def run_substitute_inline_refs(given: Input) -> Any:
    return substitute_labels(given["text"], refs_from_pi(given["refs"]), given["toolNames"])


@operation("substitute_block_refs")
def run_substitute_block_refs(given: Input) -> Any:
    return substitute_block_placeholders(given["text"], given["lookup"].get, given.get("selfBlockId"))


@operation("serialize_batch")
def run_serialize_batch(given: Input) -> Any:
    return serialize_batch(batch_from_pi(given["batch"]), SessionConfig().result_budget_chars)


@operation("is_usable_summary")
def run_is_usable_summary(given: Input) -> Any:
    return is_usable_summary(given["text"], given["stopReason"])


def _usage(given: Input) -> Usage | None:
    usage = given.get("usage")
    return None if usage is None else Usage(usage["tokens"], usage["contextWindow"])


@operation("should_budget_flush")
def run_should_budget_flush(given: Input) -> Any:
    return should_budget_flush(_usage(given), given["threshold"])


@operation("should_delta_flush")
def run_should_delta_flush(given: Input) -> Any:
    return should_delta_flush(_usage(given), given["previousFraction"], given["delta"])


@operation("usage_fraction")
def run_usage_fraction(given: Input) -> Any:
    return usage_fraction(_usage(given))


@operation("format_compact_count")
def run_format_compact_count(given: Input) -> Any:
    return format_compact_count(given["n"])


@operation("format_cost")
def run_format_cost(given: Input) -> Any:
    return format_cost(given["n"])


@operation("format_char_progress")
def run_format_char_progress(given: Input) -> Any:
    return format_char_progress(given["received"], given.get("raw"))


@operation("status_text")
def run_status_text(given: Input) -> Any:
    config, metrics, reclaim = given["config"], given.get("metrics"), given.get("reclaim")
    return status_line(
        SessionConfig(enabled=config["enabled"], show_prune_status_line=config["showPruneStatusLine"]),
        text=given.get("text"),
        reclaim=reclaim and Reclaim(reclaim["beforeChars"], reclaim["afterChars"]),
        diagnostics={DiagnosticKind(kind): n for kind, n in given.get("diagnostics", {}).items()},
        metrics=metrics
        and ContextMetrics(
            metrics["openCycleThinkingTokens"], metrics["largestChainSharePct"], metrics["frontierGapTokens"]
        ),
    )


@operation("diagnostics")
def run_diagnostics(given: Input) -> Any:
    sink = DiagnosticSink()
    appended: list[Any] = []
    counts = []
    for event in given["events"]:
        if event["do"] == "reset":
            sink.reset()
        else:
            _report(sink, event, appended)
        counts.append(sink.counts)
    return {"appended": appended, "counts": counts}


def _report(sink: DiagnosticSink, event: Input, appended: list[Any]) -> None:
    def record(entry: DiagnosticEntry) -> None:
        if event.get("fail"):
            raise OSError("the log is full")
        appended.append({"customType": "context-prune-diagnostic", "data": asdict(entry)})

    try:
        sink.report(DiagnosticKind(event["kind"]), event["key"], event["detail"], record)
    except OSError:
        return


def _entries(given: Input) -> list[Any]:
    entries = (entry_from_pi(raw) for raw in given["entries"])
    return [entry for entry in entries if entry is not None]


@operation("frontier_load")
def run_frontier_load(given: Input) -> Any:
    frontier = load_frontier(_entries(given))
    return frontier and frontier_to_pi(frontier)


@operation("stats_load")
def run_stats_load(given: Input) -> Any:
    baseline = stats = load_stats(_entries(given))
    for usage in given["add"]:
        cost = usage.get("cost", {}).get("total", 0)
        stats = add_usage(stats, SummaryUsage(usage.get("input", 0), usage.get("output", 0), cost))
    delta = stats_since(baseline, stats)
    return {
        "stats": stats_to_pi(stats),
        "delta": {
            "totalCost": delta.total_cost,
            "inputTokens": delta.input_tokens,
            "outputTokens": delta.output_tokens,
        },
    }

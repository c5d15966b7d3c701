"""Runners of capture and grouping."""

from typing import Any

from condense_grpc.domain.capture import branch_view, capture_batch, find_batches, group_batches, hydrate
from condense_grpc.domain.pi_entries import entry_time_ms
from condense_grpc.domain.pi_json import message_from_pi
from condense_grpc.domain.pi_records import batch_from_pi, batch_to_pi
from condense_grpc.domain.protection import Protection
from condense_grpc.domain.skeleton import skeletons_of
from tests.vectorkit.registry import operation


@operation("capture_batch")
def capture_one_batch(given: dict[str, Any]) -> dict[str, Any]:
    results = [message_from_pi(result) for result in given["toolResults"]]
    message = message_from_pi(given["message"])
    return batch_to_pi(capture_batch(message, results, given["turnIndex"], given["timestamp"]))


@operation("capture_unindexed")
def capture_unindexed(given: dict[str, Any]) -> list[dict[str, Any]]:
    entries = [entry for entry in given["branch"] if isinstance(entry, dict) and entry.get("type") == "message"]
    messages = [message_from_pi(entry.get("message")) for entry in entries]
    config = given["config"]
    protection = Protection(tuple(config.get("protectedTools") or ()), tuple(config.get("protectedPaths") or ()))
    skeletons = skeletons_of(messages, tuple(config.get("pathArguments", ["path"])))
    captured = find_batches(branch_view(skeletons), set(given["summarized"]).__contains__, protection)
    shown = []
    for batch in captured:
        times = [entry_time_ms(entries[batch.position].get("timestamp")), messages[batch.position].timestamp_ms]
        timestamp = next((time for time in times if time is not None), given["now"])
        shown.append(batch_to_pi(hydrate(batch, messages.__getitem__, timestamp)))
    return shown


@operation("group_batches")
def group(given: dict[str, Any]) -> list[dict[str, Any]]:
    batches = [batch_from_pi(batch) for batch in given["batches"]]
    return [batch_to_pi(batch) for batch in group_batches(batches, given["mode"])]

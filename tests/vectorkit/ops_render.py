"""Runners of the render and of its phases."""

from collections.abc import Callable
from typing import Any

from condense_grpc.domain.chain_body import escape_delimiters
from condense_grpc.domain.chain_ranges import ChainPhase, ResultBody, apply_chain_ranges, overlaps
from condense_grpc.domain.config import ChainCompressionConfig, PurgeErrorsConfig, SessionConfig
from condense_grpc.domain.entries import ChainEntry
from condense_grpc.domain.index import SessionIndex
from condense_grpc.domain.labels import substitute_block_placeholders
from condense_grpc.domain.messages import TextPart, text_of
from condense_grpc.domain.pairing import Pairs, keys_of
from condense_grpc.domain.pi_entries import chain_from_pi, entry_from_pi
from condense_grpc.domain.pi_json import message_from_pi
from condense_grpc.domain.pi_records import refs_from_pi
from condense_grpc.domain.purge import find_purges
from condense_grpc.domain.render import RenderInput, render
from condense_grpc.domain.skeleton import skeleton_of
from condense_grpc.domain.sweep import find_orphans
from condense_grpc.domain.view import Diagnostic, Element
from tests.vectorkit.registry import operation
from tests.vectorkit.view_json import view_json

Input = dict[str, Any]


def config_of(given: Input) -> SessionConfig:
    """The settings of a pure operation: absent blocks are off, absent protection protects nothing."""
    chain = given.get("chainCompression")
    purge = given.get("purgeErrors")
    return SessionConfig(
        protected_tools=tuple(given.get("protectedTools", ())),
        protected_paths=tuple(given.get("protectedPaths", ())),
        path_arguments=tuple(given.get("pathArguments", ["path"])),
        recovery_grace_turns=given.get("recoveryGraceTurns", 0),
        spill_threshold=given.get("spillThreshold", 65536),
        spill_preview_bytes=given.get("spillPreviewBytes", 2048),
        chain_compression=ChainCompressionConfig(enabled=False)
        if chain is None
        else ChainCompressionConfig(
            enabled=chain.get("enabled", True),
            rolling_window=chain.get("rollingWindow", 3),
            strip_final_assistant_thinking=chain.get("stripFinalAssistantThinking", True),
            fuse_range_summary=chain.get("fuseRangeSummary", True),
        ),
        purge_errors=PurgeErrorsConfig(enabled=False) if purge is None else purge_config(purge),
    )


def purge_config(purge: Input) -> PurgeErrorsConfig:
    return PurgeErrorsConfig(
        enabled=purge.get("enabled", True),
        cooldown_turns=purge.get("cooldownTurns", 2),
        min_arg_chars=purge.get("minArgChars", 500),
    )


def bodies(messages: list[Any]) -> Callable[[int], ResultBody]:
    def body(position: int) -> ResultBody:
        message = message_from_pi(messages[position])
        return ResultBody(text_of(message), tuple(p for p in message.parts if not isinstance(p, TextPart)))

    return body


def shown(diagnostics: list[Diagnostic]) -> list[Any]:
    once: dict[tuple[str, str], Any] = {}
    for item in diagnostics:
        once.setdefault((item.kind, item.key), {"kind": item.kind, "detail": item.detail})
    return list(once.values())


@operation("prune")
def run_prune(given: Input) -> Any:
    config = config_of(given["config"])
    entries = [entry_from_pi(value, config.path_arguments) for value in given["entries"]]
    view = render(
        RenderInput(
            messages=[skeleton_of(message_from_pi(m), config.path_arguments) for m in given["messages"]],
            index=SessionIndex.rebuild(entry for entry in entries if entry is not None),
            config=config,
            result_body=bodies(given["messages"]),
        )
    )
    return {
        "messages": view_json(view.elements, given["messages"]),
        "pruned": view.pruned,
        "beforeChars": view.before_chars,
        "afterChars": view.after_chars,
        "diagnostics": shown(list(view.diagnostics)),
    }


@operation("purge_errored_args")
def run_purge(given: Input) -> Any:
    skeletons = [skeleton_of(message_from_pi(m), ("path",)) for m in given["messages"]]
    config = purge_config(given["config"].get("purgeErrors", given["config"]))
    purges = find_purges(skeletons, Pairs(skeletons), config)
    elements = [Element(i, s, purged=purges.get(i, {})) for i, s in enumerate(skeletons)]
    return {"messages": view_json(elements, given["messages"]), "changed": bool(purges)}


def _body_of(given: Input) -> Callable[[ChainEntry], str]:
    lookup = given.get("blockLookup")

    def body(entry: ChainEntry) -> str:
        text: str = given["summaries"].get(entry.block_id, "")
        if lookup is not None and entry.is_fused:
            text = substitute_block_placeholders(text, lookup.get, entry.block_id)
        return escape_delimiters(text)

    return body


def _apply(given: Input, messages: list[Any]) -> tuple[list[Any], list[Any]]:
    skeletons = [skeleton_of(message_from_pi(m), ("path",)) for m in messages]
    keys, numbers = keys_of(skeletons)
    elements = [Element(i, s, keys[i], numbers[i]) for i, s in enumerate(skeletons)]
    phase = ChainPhase(
        entries=[entry for entry in map(_chain, given["entries"]) if entry is not None],
        body_of=_body_of(given),
        result_body=bodies(messages),
        strip_final_thinking=given["stripFinalThinking"],
    )
    result, diagnostics = apply_chain_ranges(elements, phase)
    return view_json(result, messages), shown(diagnostics)


def _chain(value: Any) -> ChainEntry | None:
    return chain_from_pi(value.get("data", value)) if isinstance(value, dict) else None


@operation("apply_chain_compressions")
def run_apply(given: Input) -> Any:
    messages, diagnostics = _apply(given, given["messages"])
    again, _ = _apply(given, messages)
    return {"messages": messages, "diagnostics": diagnostics, "idempotent": again == messages}


@operation("summary_overlap")
def run_overlap(given: Input) -> Any:
    refs = refs_from_pi((given["message"].get("details") or {}).get("toolCallRefs"))
    return overlaps(refs, set(given["droppedKeys"]), set(given["droppedIds"]))


@operation("sweep_orphans")
def run_sweep(given: Input) -> Any:
    skeletons = [skeleton_of(message_from_pi(m), ()) for m in given["messages"]]
    orphans = find_orphans(skeletons)
    kept = [m for i, m in enumerate(given["messages"]) if i not in set(orphans)]
    return {"messages": kept, "sweptIds": [skeletons[i].tool_call_id for i in orphans]}

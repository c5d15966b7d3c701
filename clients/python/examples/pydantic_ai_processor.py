"""A history processor for pydantic-ai: Agent(model, capabilities=[ProcessHistory(condensed(session))])."""

from dataclasses import replace
from typing import Any

from pydantic_ai.messages import ModelRequest, UserPromptPart


def as_block(it: Any, at: list[int]) -> dict[str, Any]:
    """A part as a block; `at` is a field of our own, by which it is found again."""
    if it.part_kind == "tool-call":
        return {"type": "tool_use", "id": it.tool_call_id, "name": it.tool_name, "input": it.args_as_dict(), "at": at}
    if getattr(it, "tool_name", None):
        return {"type": "tool_result", "tool_use_id": it.tool_call_id, "content": str(it.content), "at": at}
    return {"type": "text", "text": str(it.content), "at": at}


def condensed(session: Any) -> Any:
    """For an `AsyncSession` of `native("anthropic")`. What it returns becomes the history: it keeps the raw one."""
    raw, shown, roles = list[Any](), list[Any](), {"request": "user", "response": "assistant"}

    async def process(messages: list[Any]) -> list[Any]:
        raw.extend(messages[len(shown) :])
        blocks = [[as_block(part, [i, j]) for j, part in enumerate(it.parts)] for i, it in enumerate(raw)]
        sent = [{"role": roles[it.kind], "content": content} for it, content in zip(raw, blocks, strict=True)]
        shown[:] = [as_message(one["content"], raw) for one in (await session.prune(sent)).messages]
        return list(shown)

    return process


def as_message(blocks: list[Any], raw: list[Any]) -> Any:
    """What the view shows: parts as they are, stubs, shortened arguments, and texts of the service."""
    homes = [raw[it["at"][0]] if "at" in it else ModelRequest([UserPromptPart(it["text"])]) for it in blocks]
    parts = [home.parts[it["at"][1] if "at" in it else 0] for home, it in zip(homes, blocks, strict=True)]
    for place, (it, part) in enumerate(zip(blocks, parts, strict=True)):
        if "at" in it and it != as_block(part, it["at"]):
            parts[place] = replace(part, args=it["input"]) if "input" in it else replace(part, content=it["content"])
    return replace(max(homes, key=lambda home: len(home.parts)), parts=parts)

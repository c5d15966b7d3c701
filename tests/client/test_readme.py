"""The quickstart of the README runs as it stands there."""

from pathlib import Path
from typing import Any

import pytest

from tests.client.fake_server import FakeBackend

README = Path(__file__).parents[2] / "clients" / "python" / "README.md"


def test_the_quickstart_runs(target: str, backend: FakeBackend, capsys: pytest.CaptureFixture[str]) -> None:
    """Against a server, with a model that works, looks something up, and answers."""
    backend.originals["t1"] = "the log"
    names = iter([("bash", "{}"), ("context_tree_query", '{"toolCallIds": ["t1"]}')])
    seen: list[Any] = []

    def ask_model(messages: list[Any], tools: list[Any]) -> Any:
        seen.append((len(messages), tools[-1]["function"]["name"]))
        name, arguments = next(names, ("", ""))
        if not name:
            return {"role": "assistant", "content": "It fails because of the linker."}
        call = {"id": f"c{len(seen)}", "type": "function", "function": {"name": name, "arguments": arguments}}
        return {"role": "assistant", "content": None, "tool_calls": [call]}

    code = README.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    assert "localhost:50051" in code
    world = {"own_tools": [], "ask_model": ask_model, "run_tool": lambda call: "output"}
    exec(code.replace("localhost:50051", target), world)
    assert seen == [(1, "context_tree_query"), (3, "context_tree_query"), (5, "context_tree_query")]
    assert backend.sessions["build-42"].length == 6
    assert "## t1\nthe log" in str(backend.sessions["build-42"].sent()[4].tool_result.parts[0].text.text)

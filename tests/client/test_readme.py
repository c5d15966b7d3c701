"""The quickstart of the README runs as it stands there."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from condense_grpc.cli.server_process import ServerProcess
from tests.client.fake_server import FakeBackend

README = Path(__file__).parents[2] / "clients" / "python" / "README.md"


def run_quickstart(target: str, run_tool: Callable[[Any], str]) -> list[tuple[int, str]]:
    """With a model that works, looks something up, and answers. What it was asked: messages and the last tool."""
    names = iter([("bash", "{}"), ("context_tree_query", '{"toolCallIds": ["t1"]}')])
    seen: list[tuple[int, str]] = []

    def ask_model(messages: list[Any], tools: list[Any]) -> Any:
        seen.append((len(messages), tools[-1]["function"]["name"]))
        name, arguments = next(names, ("", ""))
        if not name:
            return {"role": "assistant", "content": "It fails because of the linker."}
        call = {"id": f"c{len(seen)}", "type": "function", "function": {"name": name, "arguments": arguments}}
        return {"role": "assistant", "content": None, "tool_calls": [call]}

    code = README.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    assert "localhost:50051" in code
    world = {"own_tools": [], "ask_model": ask_model, "run_tool": run_tool}
    exec(code.replace("localhost:50051", target), world)
    return seen


def test_the_quickstart_runs(target: str, backend: FakeBackend) -> None:
    """The tool's answer is what the server gives."""
    backend.originals["t1"] = "the log"
    seen = run_quickstart(target, lambda call: "output")
    assert seen == [(1, "context_tree_query"), (3, "context_tree_query"), (5, "context_tree_query")]
    assert backend.sessions["build-42"].length == 6
    assert "## t1\nthe log" in str(backend.sessions["build-42"].sent()[4].tool_result.parts[0].text.text)


def test_the_quickstart_condenses_on_a_real_server(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The work is summarized at its end."""
    with ServerProcess(tmp_path / "readme.db") as server:
        run_quickstart(server.address, lambda call: "\n".join(f"step {number} is done" for number in range(200)))
    assert "summarized_batches: 1" in capsys.readouterr().out


def test_it_is_short() -> None:
    """Nobody reads more."""
    assert README.read_text(encoding="utf-8").count("\n") <= 60

"""The examples run, against providers that refuse every invalid history."""

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import convert_to_messages, convert_to_openai_messages
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic_ai import Agent
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from condense_grpc.cli.server_process import ServerProcess
from condense_grpc.client import AsyncCondenseClient, CondenseClient, native
from condense_grpc.testing.strict_provider import StrictProvider, Turn

FOLDER = Path(__file__).parents[2] / "clients" / "python" / "examples"
LISTING = "for n in $(seq 1 400); do echo line $n of a long listing; done"
FAILING = "echo no such file >&2; exit 2 # " + "x" * 900
# Finished pieces of work, one with parallel calls, one that fails; then the model reads an original back.
TURNS = [
    Turn("Let me see.", [("bash", {"command": LISTING}), ("bash", {"command": f"{LISTING} # again"})]),
    Turn("A long listing."),
    Turn("", [("bash", {"command": FAILING})]),
    Turn("It failed."),
    Turn("", [("bash", {"command": f"{LISTING} # more"})]),
    Turn("The same."),
    Turn("", [("context_tree_query", {"toolCallIds": ["t1"]})]),
    Turn("It says: ", quote_chars=2000),
    Turn("Bye."),
]
QUESTIONS = ["What is here?", "And there?", "Again?", "What does line 17 say?", "Thanks."]
LOOPS = [
    ("openai_loop", "openai", {"OPENAI_API_KEY": "none"}),
    ("anthropic_loop", "anthropic", {"ANTHROPIC_API_KEY": "none"}),
    ("http_loop", "gemini", {"GEMINI_API_KEY": "none"}),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path_factory.mktemp("examples") / "examples.db") as process:
        yield process


@pytest.fixture
def examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))


def check(provider: StrictProvider) -> None:
    """Nothing was refused, requests became smaller, and the original that was asked for came back whole."""
    assert provider.refusals == [] and len(provider.asked) == len(TURNS)
    sizes = [len(str(asked.history)) for asked in provider.asked]
    assert sizes[2] < sizes[1] / 2 and sizes[6] < sizes[1] / 2
    assert "`t1`" in str(provider.asked[2].history)
    assert "line 17 of a long listing" in str(provider.asked[7].history)


@pytest.mark.parametrize(("name", "provider", "variables"), LOOPS)
def test_loops_run_as_they_are(name: str, provider: str, variables: dict[str, str], server: ServerProcess) -> None:
    """On the SDKs of OpenAI and Anthropic, and over plain HTTP; as somebody who tries them would run them."""
    with StrictProvider(TURNS) as fake:
        url = {f"{provider.upper()}_BASE_URL": fake.base_url(provider), "CONDENSE_TARGET": server.address}
        command = [sys.executable, str(FOLDER / f"{name}.py"), *QUESTIONS]
        done = subprocess.run(command, env={**os.environ, **variables, **url}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:3] == ["A long listing.", "It failed.", "The same."] and lines[-1] == "Bye."
    assert "line 17 of a long listing" in done.stdout
    check(fake)


def test_examples_are_short() -> None:
    """Less than forty lines each."""
    files = sorted(FOLDER.glob("*.py"))
    assert len(files) >= 6
    assert {file.name: len(file.read_text(encoding="utf-8").splitlines()) for file in files if long(file)} == {}


def long(file: Path) -> bool:
    return len(file.read_text(encoding="utf-8").splitlines()) >= 40


def model_of(shape: str, fake: StrictProvider) -> Any:
    if shape == "openai":
        return OpenAIChatModel("m", provider=OpenAIProvider(base_url=fake.base_url(), api_key="none"))
    return AnthropicModel("m", provider=AnthropicProvider(base_url=fake.base_url("anthropic"), api_key="none"))


@pytest.mark.usefixtures("examples")
@pytest.mark.parametrize("shape", ["openai", "anthropic"])
async def test_a_pydantic_ai_agent(shape: str, server: ServerProcess) -> None:
    """Through a history processor, over several runs of the agent, whatever the model behind it."""
    processor: Any = importlib.import_module("pydantic_ai_processor")
    tool: Any = importlib.import_module("bash_tool")
    async with AsyncCondenseClient(server.address) as client:
        session = client.session(f"pydantic-ai-{shape}", adapter=native("anthropic"))
        with StrictProvider(TURNS) as fake:
            agent = Agent(model_of(shape, fake), capabilities=[ProcessHistory(processor.condensed(session))])

            @agent.tool_plain
            def bash(command: str) -> str:
                """Runs a command."""
                said: str = tool.run(command)
                return said

            @agent.tool_plain
            async def context_tree_query(toolCallIds: list[str]) -> str:
                """Reads originals back."""
                return await session.answer_tool_call({"toolCallIds": toolCallIds})

            history: list[Any] = []
            for question in QUESTIONS:
                run = await agent.run(question, message_history=history)
                history = run.all_messages()
                await session.flush().wait()
            check(fake)


class StrictModel(BaseChatModel):
    """A chat model of LangChain that asks the strict provider."""

    fake: Any
    tools: Any = ()

    @property
    def _llm_type(self) -> str:
        return "strict"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        named = [{"type": "function", "function": {"name": tool.name}} for tool in tools]
        return StrictModel(fake=self.fake, tools=named)

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **_: Any) -> ChatResult:
        body = {"model": "m", "messages": convert_to_openai_messages(messages), "tools": self.tools}
        status, answer, _failure = self.fake.respond("/chat/completions", body)
        assert status == 200, answer
        [message] = convert_to_messages([answer["choices"][0]["message"]])
        return ChatResult(generations=[ChatGeneration(message=message)])


@pytest.mark.usefixtures("examples")
def test_a_langchain_agent(server: ServerProcess) -> None:
    """Through a middleware, which brings the recovery tool; the agent's own history keeps everything."""
    middleware: Any = importlib.import_module("langchain_middleware")
    tool: Any = importlib.import_module("bash_tool")
    fake = StrictProvider(TURNS)

    def bash(command: str) -> str:
        """Runs a command."""
        said: str = tool.run(command)
        return said

    with CondenseClient(server.address) as client:
        session = client.session("langchain", adapter=native("openai-chat"))
        agent: Any = create_agent(StrictModel(fake=fake), [bash], middleware=[middleware.Condensed(session)])
        state: Any = {"messages": []}
        for question in QUESTIONS:
            state = agent.invoke({"messages": [*state["messages"], {"role": "user", "content": question}]})
    check(fake)
    assert str(state["messages"]).count("line 17 of a long listing") >= 4

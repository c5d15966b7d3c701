"""The strict provider: it answers by its script in each format, and refuses what the real one refuses."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import openai
import pytest

from condense_grpc.native.formats import NativeFormat
from condense_grpc.testing.native_validator import validate_native
from condense_grpc.testing.strict_provider import Failure, ScriptInvalid, StrictProvider, Turn, read_script

TURNS = [Turn("look", [("bash", {"command": "ls"}), ("bash", {"command": "pwd"})]), Turn("done")]
FUNCTION = {"name": "bash", "parameters": {"type": "object"}}


def post(url: str, body: Any) -> tuple[int, Any]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    try:
        with urlopen(Request(url, data, {"content-type": "application/json"})) as response:
            return response.status, json.load(response)
    except HTTPError as error:
        return error.code, json.load(error)


APIS: list[Any] = [
    pytest.param("openai", "/chat/completions", "messages", NativeFormat.OPENAI_CHAT, id="chat"),
    pytest.param("openai", "/responses", "input", NativeFormat.OPENAI_RESPONSES, id="responses"),
    pytest.param("anthropic", "/v1/messages", "messages", NativeFormat.ANTHROPIC, id="anthropic"),
    pytest.param("gemini", "/models/m:generateContent", "contents", NativeFormat.GEMINI, id="gemini"),
]
SETTINGS: dict[NativeFormat, Any] = {
    NativeFormat.OPENAI_CHAT: {"model": "m", "tools": [{"type": "function", "function": FUNCTION}]},
    NativeFormat.OPENAI_RESPONSES: {"model": "m", "tools": [{"type": "function", **FUNCTION}]},
    NativeFormat.ANTHROPIC: {"model": "m", "max_tokens": 9, "tools": [{"name": "bash", "input_schema": {}}]},
    NativeFormat.GEMINI: {"tools": [{"functionDeclarations": [FUNCTION]}]},
}


def elements(form: NativeFormat, body: Any) -> list[Any]:
    """What an agent appends for an answer."""
    match form:
        case NativeFormat.OPENAI_CHAT:
            return [body["choices"][0]["message"]]
        case NativeFormat.OPENAI_RESPONSES:
            return list(body["output"])
        case NativeFormat.ANTHROPIC:
            return [{"role": body["role"], "content": body["content"]}]
        case _:
            return [body["candidates"][0]["content"]]


def results(form: NativeFormat, answered: list[Any]) -> list[Any]:
    """What an agent appends for the calls of an answer."""
    match form:
        case NativeFormat.OPENAI_CHAT:
            calls = answered[0]["tool_calls"]
            return [{"role": "tool", "tool_call_id": call["id"], "content": "a long listing"} for call in calls]
        case NativeFormat.OPENAI_RESPONSES:
            calls = [item for item in answered if item["type"] == "function_call"]
            output = {"type": "function_call_output", "output": "a long listing"}
            return [{**output, "call_id": call["call_id"]} for call in calls]
        case NativeFormat.ANTHROPIC:
            calls = [block for block in answered[0]["content"] if block["type"] == "tool_use"]
            told = {"type": "tool_result", "content": [{"type": "text", "text": "a long listing"}]}
            return [{"role": "user", "content": [{**told, "tool_use_id": call["id"]} for call in calls]}]
        case _:
            response = {"functionResponse": {"name": "bash", "response": {"output": "a long listing"}}}
            return [{"role": "user", "parts": [response, response]}]


@pytest.mark.parametrize(("provider", "path", "name", "form"), APIS)
def test_answers_follow_the_script_and_are_valid(provider: str, path: str, name: str, form: NativeFormat) -> None:
    """Its own answers it takes back; calls that are left unanswered it refuses, which uses up no turn."""
    first: Any = {"role": "user", "content": "go"} if form is not NativeFormat.GEMINI else {"parts": [{"text": "go"}]}
    with StrictProvider(TURNS) as fake:
        url = fake.base_url(provider) + path

        def ask(history: list[Any]) -> tuple[int, Any]:
            return post(url, SETTINGS[form] | {name: history})

        status, body = ask([first])
        assert status == 200
        answered = elements(form, body)
        assert not validate_native(form, [first, *answered])
        status, body = ask([first, *answered])
        assert status == 400 and "unanswered-call" in json.dumps(body) and len(fake.refusals) == 1
        status, body = ask([first, *answered, *results(form, answered)])
        assert status == 200 and "done" in json.dumps(elements(form, body))
        assert ask([first])[0] == 200
        assert [asked.form for asked in fake.asked] == [form] * 4
        assert ask([])[0] == 400


@pytest.mark.parametrize(("provider", "path", "name", "form"), APIS)
def test_the_last_result_can_be_quoted(provider: str, path: str, name: str, form: NativeFormat) -> None:
    """As a model would that has read it."""
    first: Any = {"role": "user", "content": "go"} if form is not NativeFormat.GEMINI else {"parts": [{"text": "go"}]}
    with StrictProvider([TURNS[0], Turn("It says: ", quote_chars=6)]) as fake:
        url = fake.base_url(provider) + path
        answered = elements(form, post(url, SETTINGS[form] | {name: [first]})[1])
        history = [first, *answered, *results(form, answered)]
        said = json.dumps(post(url, SETTINGS[form] | {name: history})[1])
    assert ("It says: a long" if form is not NativeFormat.GEMINI else "It says: {") in said


@pytest.mark.parametrize(("provider", "path", "name", "form"), APIS)
def test_tools_that_are_not_offered_are_not_called(provider: str, path: str, name: str, form: NativeFormat) -> None:
    """So that a test sees when an agent has lost one."""
    history = [{"role": "user", "content": "go", "parts": [{"text": "go"}]}]
    with StrictProvider(TURNS) as fake:
        status, body = post(fake.base_url(provider) + path, SETTINGS[form] | {name: history, "tools": []})
    assert status == 400 and "calls bash" in json.dumps(body)


@pytest.mark.parametrize(("provider", "path", "name", "form"), APIS)
def test_failures_are_told_as_the_provider_does(provider: str, path: str, name: str, form: NativeFormat) -> None:
    """And use up their turn."""
    history = [{"role": "user", "content": "go", "parts": [{"text": "go"}]}]
    with StrictProvider([Turn(failure=Failure(429, "slow down", retry_after_s=7)), Turn("done")]) as fake:
        url, body = fake.base_url(provider) + path, SETTINGS[form] | {name: history}
        with pytest.raises(HTTPError) as failed:
            urlopen(Request(url, json.dumps(body).encode()))
        assert failed.value.code == 429 and failed.value.headers["retry-after"] == "7"
        assert json.load(failed.value)["error"]["message"] == "slow down"
        assert post(url, body)[0] == 200 and not fake.refusals


def test_chat_is_streamed() -> None:
    """Text and calls in pieces; the SDK puts them together again."""
    long = "a text that is longer than one piece, with an emoji 🙂"
    with StrictProvider([Turn(long, [("bash", {"command": long}), ("bash", {})])]) as fake:
        client = openai.OpenAI(base_url=fake.base_url(), api_key="none", max_retries=0)
        tools: Any = SETTINGS[NativeFormat.OPENAI_CHAT]["tools"]
        asked: Any = {"model": "m", "messages": [{"role": "user", "content": "go"}], "tools": tools}
        with client.chat.completions.stream(**asked, stream_options={"include_usage": True}) as stream:
            completion = stream.get_final_completion()
        pieces = list(client.chat.completions.create(**asked, stream=True))
    [choice] = completion.choices
    assert choice.message.content == long and choice.finish_reason == "tool_calls" and completion.usage
    calls: Any = choice.message.tool_calls
    assert [json.loads(call.function.arguments) for call in calls] == [{"command": long}, {}]
    assert len({call.id for call in calls}) == 2
    assert len(pieces) > 6 and not any(piece.usage for piece in pieces)


def test_what_is_no_request_is_refused() -> None:
    """Whatever is asked."""
    with StrictProvider(TURNS) as fake:
        assert post(fake.base_url("anthropic") + "/nothing", {})[0] == 404
        for body in (b"", b"[]", b"{"):
            assert post(fake.base_url() + "/chat/completions", body)[0] == 400
        ask: Any = {"messages": [{"role": "user", "content": "go"}]}
        assert "model is missing" in str(post(fake.base_url() + "/chat/completions", ask))
        assert "max_tokens" in str(post(fake.base_url("anthropic") + "/v1/messages", ask | {"model": "m"}))
        stored = {"model": "m", "input": "go", "previous_response_id": "r"}
        assert "keeps no responses" in str(post(fake.base_url() + "/responses", stored))
        assert "streams chat" in str(post(fake.base_url() + "/responses", {"model": "m", "input": "a", "stream": True}))


BAD_SCRIPTS = {
    "[": "not JSON",
    "[]": "at least one turn",
    "[7]": "turn 0 has to be an object",
    "[{}]": "turn 0 says nothing",
    '[{"text": "a"}, {"texts": "b"}]': "turn 1 has a member 'texts'",
    '[{"text": 7}]': "turn 0: text has to be",
    '[{"calls": [{"arguments": {}}]}]': "call 0 of turn 0 lacks 'name'",
    '[{"failure": {}}]': "the failure of turn 0 lacks 'status'",
}


@pytest.mark.parametrize("text", BAD_SCRIPTS)
def test_bad_scripts_are_refused(text: str) -> None:
    """With the turn and what is wrong there."""
    with pytest.raises(ScriptInvalid, match=BAD_SCRIPTS[text]):
        read_script(text)


def test_it_runs_as_a_process(tmp_path: Path) -> None:
    """For agents in other languages: a script in a file, the port on a line, what was asked over HTTP and in a log."""
    script, log = tmp_path / "script.json", tmp_path / "requests.jsonl"
    call = {"name": "bash", "arguments": {"command": "ls"}}
    script.write_text(json.dumps([{"text": "a", "calls": [call]}, {"failure": {"status": 500}}]), encoding="utf-8")
    command = [sys.executable, "-m", "condense_grpc.testing.strict_provider", str(script), "--log", str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            told = json.loads(process.stdout.readline())
            url = told["base_urls"]["openai"]
            assert f":{told['port']}/v1" in url
            body = SETTINGS[NativeFormat.OPENAI_CHAT] | {"messages": [{"role": "user", "content": "go"}]}
            assert post(url + "/chat/completions", body)[0] == 200
            assert post(url + "/chat/completions", body)[0] == 500
            with urlopen(f"http://127.0.0.1:{told['port']}/requests") as response:
                requests = json.load(response)
            with urlopen(url + "/models") as response:
                assert json.load(response)["data"]
        finally:
            process.terminate()
        assert process.wait() == 0
    assert [one["body"] for one in requests] == [body, body]
    assert [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] == requests

"""An agent over plain HTTP, on Gemini's generateContent: GEMINI_API_KEY=… python http_loop.py "What is here?"."""

import json
import os
import sys
from typing import Any
from urllib.request import Request, urlopen

import bash_tool

from condense_grpc.client import CondenseClient, Session, native, recovery_tool

API = os.environ.get("GEMINI_BASE_URL", "https://generativelanguage.googleapis.com/v1beta")
TOOLS = [{"functionDeclarations": [bash_tool.FUNCTION, recovery_tool("gemini")]}]


def ask(session: Session[Any], contents: list[Any], url: str = f"{API}/models/gemini-2.5-pro:generateContent") -> str:
    """Let the model work until it answers with text only; `contents` keeps everything."""
    while True:
        body = json.dumps({"contents": session.prune(contents).messages, "tools": TOOLS}).encode()
        with urlopen(Request(url, body, {"x-goog-api-key": os.environ["GEMINI_API_KEY"]})) as response:
            contents.append(json.load(response)["candidates"][0]["content"])
        parts = []
        for call in (part["functionCall"] for part in contents[-1]["parts"] if "functionCall" in part):
            run = bash_tool.run if call["name"] == "bash" else lambda **given: session.answer_tool_call(given)
            named = {key: call[key] for key in ("id", "name") if key in call}
            parts.append({"functionResponse": named | {"response": {"output": run(**call["args"])}}})
        if not parts:
            session.flush(contents).wait()
            return "".join(part.get("text", "") for part in contents[-1]["parts"])
        contents.append({"role": "user", "parts": parts})


if __name__ == "__main__":
    with CondenseClient(os.environ.get("CONDENSE_TARGET", "127.0.0.1:50051")) as client:
        history = list[Any]()
        for question in sys.argv[1:]:
            history.append({"role": "user", "parts": [{"text": question}]})
            print(ask(client.session("http-example", adapter=native("gemini")), history))

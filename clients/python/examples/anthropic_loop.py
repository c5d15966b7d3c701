"""An agent on the Anthropic SDK whose history stays small: python anthropic_loop.py "What is in this folder?"."""

import os
import sys
from typing import Any

import bash_tool
from anthropic import Anthropic

from condense_grpc.client import CondenseClient, Session, native, recovery_tool

BASH = {"name": "bash", "input_schema": bash_tool.FUNCTION["parameters"]}
TOOLS: list[Any] = [BASH, recovery_tool("anthropic")]  # both from the first request on, for the provider's cache


def ask(llm: Anthropic, session: Session[Any], messages: list[Any]) -> str:
    """Let the model work until it answers with text only; `messages` keeps everything."""
    while True:
        view = session.prune(messages)
        reply = llm.messages.create(model="claude-opus-4-5", max_tokens=4096, messages=view.messages, tools=TOOLS)
        messages.append({"role": "assistant", "content": [it.model_dump(exclude_none=True) for it in reply.content]})
        results = []
        for call in (it for it in reply.content if it.type == "tool_use"):
            text = bash_tool.run(**call.input) if call.name == "bash" else session.answer_tool_call(call.input)
            results.append({"type": "tool_result", "tool_use_id": call.id, "content": text})
        if not results:
            session.flush(messages).wait()
            return "".join(it.text for it in reply.content if it.type == "text")
        messages.append({"role": "user", "content": results})


if __name__ == "__main__":
    with CondenseClient(os.environ.get("CONDENSE_TARGET", "127.0.0.1:50051")) as client:
        history: list[Any] = []
        for question in sys.argv[1:]:
            history.append({"role": "user", "content": question})
            print(ask(Anthropic(), client.session("anthropic-example", adapter=native("anthropic")), history))

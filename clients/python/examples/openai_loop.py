"""An agent on the OpenAI SDK whose history stays small: python openai_loop.py "What is in this folder?"."""

import json
import os
import sys
from typing import Any

import bash_tool
from openai import OpenAI

from condense_grpc.client import CondenseClient, Session, native, recovery_tool

# The recovery tool is there from the first request on: a list of tools that changes breaks the provider's cache.
TOOLS: list[Any] = [{"type": "function", "function": bash_tool.FUNCTION}, recovery_tool("openai")]


def ask(llm: OpenAI, session: Session[Any], messages: list[Any]) -> None:
    """Let the model work until it answers with text only; `messages` keeps everything."""
    while messages[-1]["role"] != "assistant" or messages[-1].get("tool_calls"):
        view = session.prune(messages)
        reply = llm.chat.completions.create(model="gpt-5", messages=view.messages, tools=TOOLS).choices[0].message
        messages.append(reply.model_dump(exclude_none=True))
        for call in messages[-1].get("tool_calls", ()):
            arguments = call["function"]["arguments"]
            is_own = call["function"]["name"] == "bash"
            text = bash_tool.run(**json.loads(arguments)) if is_own else session.answer_tool_call(arguments)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    session.flush(messages).wait()


if __name__ == "__main__":
    with CondenseClient(os.environ.get("CONDENSE_TARGET", "127.0.0.1:50051")) as client:
        history: list[Any] = [{"role": "system", "content": "You are a careful assistant."}]
        for question in sys.argv[1:]:
            history.append({"role": "user", "content": question})
            ask(OpenAI(), client.session("openai-example", adapter=native("openai-chat")), history)
            print(history[-1]["content"])

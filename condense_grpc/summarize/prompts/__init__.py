"""What a model is asked: one file of instructions per kind of request, and the payload between two tags.

A payload is untrusted: tool output may hold our own tags. Inside of it their `<` is written `&lt;`, so the closing
tag at the end of the request is the only one. Half characters (lone surrogates), which no provider takes, are
replaced.
"""

import re
from functools import cache
from importlib import resources

_BATCH_TAG = "tool-call-batch"
_FUSE_TAG = "sub-task-summaries"
_TAG_INSIDE = re.compile(rf"<(?=\s?/?\s?(?:{_BATCH_TAG}|{_FUSE_TAG}))", re.IGNORECASE)
_SURROGATE = re.compile("[\ud800-\udfff]")


def batch_prompt(payload: str) -> str:
    """The request for the summary of one batch."""
    return _prompt("batch.md", _BATCH_TAG, payload)


def fuse_prompt(summaries: str) -> str:
    """The request for one text from the summaries of a chain."""
    return _prompt("fuse.md", _FUSE_TAG, summaries)


def _prompt(file_name: str, tag: str, payload: str) -> str:
    if _SURROGATE.search(payload):
        payload = payload.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return f"{_instructions(file_name)}\n\n<{tag}>\n{_TAG_INSIDE.sub('&lt;', payload)}\n</{tag}>"


@cache
def _instructions(file_name: str) -> str:
    return resources.files(__name__).joinpath(file_name).read_text(encoding="utf-8").strip()

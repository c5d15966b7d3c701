"""What a model is asked: one file of instructions per kind of request, and the payload between two tags.

A payload is untrusted: tool output may hold our own tags. Inside of it their `<` is written `&lt;`, so the closing
tag at the end of the request is the only one. Half characters (lone surrogates), which no provider takes, are
replaced.
"""

import re
from functools import cache
from importlib import resources
from pathlib import Path

from condense_grpc.domain.frozen import frozen
from condense_grpc.settings import SettingsInvalid

_BATCH_TAG = "tool-call-batch"
_FUSE_TAG = "sub-task-summaries"
PROMPT_FILES = ("batch.md", "fuse.md")
_TAG_INSIDE = re.compile(rf"<(?=\s?/?\s?(?:{_BATCH_TAG}|{_FUSE_TAG}))", re.IGNORECASE)
_SURROGATE = re.compile("[\ud800-\udfff]")


@frozen
class Prompts:
    """The instructions in use: the built-in ones, or those of an operator."""

    batch: str
    fuse: str

    def for_batch(self, payload: str) -> str:
        """The request for the summary of one batch."""
        return _request(self.batch, _BATCH_TAG, payload)

    def for_fusing(self, summaries: str) -> str:
        """The request for one text from the summaries of a chain."""
        return _request(self.fuse, _FUSE_TAG, summaries)


@cache
def built_in_prompts() -> Prompts:
    """The instructions that come with the package."""
    batch, fuse = (resources.files(__name__).joinpath(name).read_text("utf-8") for name in PROMPT_FILES)
    return Prompts(batch.strip(), fuse.strip())


def read_prompts(folder: Path) -> Prompts:
    """The instructions in a folder: `batch.md`, `fuse.md`, or one of them. Raises SettingsInvalid."""
    own = built_in_prompts()
    found = [_read(folder / name) for name in PROMPT_FILES]
    if not any(found):
        raise SettingsInvalid(f"summarizer_prompts: the folder has none of {', '.join(PROMPT_FILES)}")
    if found[0] and "[[" not in found[0]:
        raise SettingsInvalid("summarizer_prompts: batch.md must ask for the labels of calls, such as [[1:bash]]")
    return Prompts(found[0] or own.batch, found[1] or own.fuse)


def batch_prompt(payload: str) -> str:
    """The built-in request for the summary of one batch."""
    return built_in_prompts().for_batch(payload)


def fuse_prompt(summaries: str) -> str:
    """The built-in request for one text from the summaries of a chain."""
    return built_in_prompts().for_fusing(summaries)


def _request(instructions: str, tag: str, payload: str) -> str:
    if _SURROGATE.search(payload):
        payload = payload.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return f"{instructions}\n\n<{tag}>\n{_TAG_INSIDE.sub('&lt;', payload)}\n</{tag}>"


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8").strip()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsInvalid(f"summarizer_prompts: {file.name} cannot be read ({type(error).__name__})") from None

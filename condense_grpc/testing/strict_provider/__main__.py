"""The strict provider as a process: prints one line of JSON with its port and base URLs, then answers until it ends.

python -m condense_grpc.testing.strict_provider script.json --log requests.jsonl
"""

import argparse
import json
import signal
import sys
import threading
from pathlib import Path

from condense_grpc.testing.strict_provider.script import ScriptInvalid, read_script
from condense_grpc.testing.strict_provider.server import StrictProvider


def main(arguments: list[str] | None = None) -> int:
    """Serve a script until SIGTERM or SIGINT; the exit status."""
    parser = argparse.ArgumentParser(prog="strict_provider", description="A model provider by a script, for tests.")
    parser.add_argument("script", type=Path, help="a JSON file: an array of turns")
    parser.add_argument("--log", type=Path, help="write each request to this file, one JSON object a line")
    given = parser.parse_args(arguments)
    try:
        turns = read_script(given.script.read_text(encoding="utf-8"))
    except (OSError, ScriptInvalid) as error:
        parser.error(str(error))
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    with StrictProvider(turns, log=given.log) as provider:
        urls = {name: provider.base_url(name) for name in ("openai", "anthropic", "gemini")}
        sys.stdout.write(json.dumps({"port": provider.port, "base_urls": urls}) + "\n")
        sys.stdout.flush()
        ended.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Runs the fake provider until it is stopped: `python -m condense_grpc.testing.fake_llm --behaviour slow`.

The first line that it prints is its address; with `--port 0` the system chooses one.
"""

import argparse
import asyncio
import contextlib
import sys
from collections.abc import Sequence

from condense_grpc.testing.fake_llm.behaviours import BEHAVIOURS
from condense_grpc.testing.fake_llm.server import FakeLlm


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(prog="python -m condense_grpc.testing.fake_llm", description=__doc__)
    parser.add_argument("--behaviour", choices=sorted(BEHAVIOURS), default="normal")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    given = parser.parse_args(arguments)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(given.behaviour, given.host, given.port))


async def _serve(behaviour: str, host: str, port: int) -> None:
    async with FakeLlm(BEHAVIOURS[behaviour](), host=host, port=port) as llm:
        sys.stdout.write(f"http://{host}:{llm.port}\n")
        sys.stdout.flush()
        await llm.serve_forever()


if __name__ == "__main__":
    main()

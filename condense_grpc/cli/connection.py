"""How commands reach a running server."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from condense_grpc.client import CondenseClient


def connection_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of every command that talks to a server."""
    token = click.option("--token", envvar="CONDENSE_TOKEN", help="A bearer token, if the server asks for one.")
    target = click.option(
        "--target",
        envvar="CONDENSE_TARGET",
        default="127.0.0.1:50051",
        show_default=True,
        help="The server, as host:port.",
    )
    return target(token(command))


@contextmanager
def connected(target: str, token: str | None) -> Iterator[CondenseClient]:
    """A client of the server."""
    with CondenseClient(target, token=token) as client:
        yield client

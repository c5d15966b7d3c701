"""`condense-grpc query`: originals by ref, as a model would get them."""

from collections.abc import Sequence

import click

from condense_grpc.api.condense.v1.query_pb2 import Slice
from condense_grpc.cli.connection import connected, connection_options
from condense_grpc.client import slices
from condense_grpc.client.errors import CondenseError


@click.command()
@click.argument("session")
@click.argument("refs", nargs=-1, required=True)
@click.option("--lines", metavar="A-B", help="Only these lines, counted from 1; B may be left out.")
@click.option("--pattern", help="Only the lines that contain this text.")
@click.option("--raw", is_flag=True, help="The verbatim text alone, of any size (one ref).")
@connection_options
def query(
    session: str, refs: Sequence[str], lines: str | None, pattern: str | None, raw: bool, target: str, token: str | None
) -> None:
    """Print originals of SESSION by REF: short refs (t12), tool call ids or occurrence keys."""
    if raw and len(refs) != 1:
        raise click.UsageError("--raw prints one original: name one ref")
    wanted = [_slice(ref, lines, pattern) for ref in refs] if lines or pattern else []
    with connected(target, token) as client:
        try:
            found = client.session(session)
            if raw:
                for piece in found.read(refs[0]):
                    click.echo(piece, nl=False)
            else:
                click.echo(found.query(refs, wanted).text)
        except CondenseError as error:
            raise click.ClickException(str(error)) from error


def _slice(ref: str, lines: str | None, pattern: str | None) -> Slice:
    if pattern is not None:
        return slices.matches(ref, pattern)
    first, _, last = (lines or "").partition("-")
    if not first.isdecimal() or (last and not last.isdecimal()):
        raise click.UsageError("--lines takes A-B or A-, for example 10-20")
    return slices.lines(ref, int(first), int(last) if last else None)

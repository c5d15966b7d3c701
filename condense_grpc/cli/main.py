"""The command `condense-grpc`. Each subcommand is a file of its own and is imported when it is used.

The base installation is only the client and has no command line; what is missing is said, not thrown.
"""

import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import click

COMMANDS = {
    "serve": ("condense_grpc.cli.serve:serve", "Run a server."),
    "demo": ("condense_grpc.cli.demo.command:demo", "Watch a scripted agent at work with a real server."),
    "query": ("condense_grpc.cli.query:query", "Print originals by ref."),
    "diagnostics": ("condense_grpc.cli.diagnostics:diagnostics", "Print how a session is doing."),
    "replay": ("condense_grpc.cli.replay.command:replay", "Replay recorded sessions through a server."),
}
_ADVICE = "install it with: pip install 'condense-grpc[server]'"


def _load(name: str) -> Any:
    """The command of a name. Ends the process with advice when a package that it needs is not installed."""
    module, _, attribute = COMMANDS[name][0].partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "condense_grpc":
            raise
        sys.exit(f"condense-grpc {name}: the package {error.name} is missing; {_ADVICE}")


def build() -> "click.Group":
    """The group of all commands. Needs click."""
    import click

    class LazyGroup(click.Group):
        """Knows names and help of its commands without importing them."""

        def list_commands(self, ctx: click.Context) -> list[str]:
            return list(COMMANDS)

        def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
            command: click.Command | None = _load(cmd_name) if cmd_name in COMMANDS else None
            return command

        def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
            with formatter.section("Commands"):
                formatter.write_dl([(name, sentence) for name, (_, sentence) in COMMANDS.items()])

    @click.group(cls=LazyGroup)
    @click.version_option(package_name="condense-grpc", message="%(prog)s %(version)s")
    def condense_grpc() -> None:
        """Keeps the context of LLM agents small and loses nothing."""

    return condense_grpc


def main() -> None:
    """Run the command line."""
    try:
        group = build()
    except ModuleNotFoundError:
        sys.exit(f"condense-grpc: the command line is not installed; {_ADVICE}")
    group(prog_name="condense-grpc")


if __name__ == "__main__":
    main()

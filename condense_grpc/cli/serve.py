"""`condense-grpc serve`: a server until it is told to stop. Its options are the server's part of the settings table."""

import asyncio
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from condense_grpc.cli.environment import unknown_variables
from condense_grpc.errors import StoreUnavailable
from condense_grpc.server.app import CannotListen
from condense_grpc.server.app import serve as run_server
from condense_grpc.settings import SERVER_KNOBS, Knob, SettingsInvalid, load_server_settings

logger = logging.getLogger(__name__)

_EPILOG = (
    "Every option can also be set in the environment, by the name in brackets, or in the TOML file by its name with "
    "underscores. Defaults of new sessions are set in the file's table [session], or by CONDENSE_SESSION_<NAME>."
)


def _options(command: Callable[..., None]) -> Callable[..., None]:
    for knob in reversed(SERVER_KNOBS):
        command = _option(knob)(command)
    return command


def _option(knob: Knob) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The option of a setting. It has no default of its own, so that environment and file can come after it."""
    default = str(knob.default).lower() if isinstance(knob.default, bool) else knob.default
    described = f"{knob.sentence} ({knob.rule.says}) [{knob.env}; default {default}]"
    return click.option(knob.flag, knob.name, default=None, metavar="VALUE", help=described)


@click.command(epilog=_EPILOG)
@click.option(
    "--config",
    "file",
    envvar="CONDENSE_CONFIG",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A TOML file with settings. [CONDENSE_CONFIG]",
)
@_options
def serve(file: Path | None, **given: Any) -> None:
    """Run a server until SIGTERM or SIGINT.

    When it listens it prints one line with its address, store and summarizer; the log goes to stderr.
    """
    flags = {knob.name: knob.rule.read(given[knob.name]) for knob in SERVER_KNOBS if given[knob.name] is not None}
    try:
        settings = load_server_settings(flags, os.environ, file)
        logging.basicConfig(
            level=settings.log_level.upper(),
            stream=sys.stderr,
            format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        )
        named = settings.summarizer_api_key_env, settings.fallback_api_key_env
        for sentence in unknown_variables(os.environ, named):
            logger.warning(sentence)
        # Migrations tell every step; what matters of them is told by the store.
        logging.getLogger("alembic").setLevel(logging.WARNING)
        asyncio.run(run_server(settings, lambda line: print(line, flush=True)))
    except (SettingsInvalid, CannotListen) as error:
        raise click.ClickException(str(error)) from None
    except StoreUnavailable as error:
        raise click.ClickException(error.message) from None

"""Variables that look like settings of the service and are none: a typing error there would otherwise go unnoticed."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from condense_grpc.settings import SERVER_KNOBS, SESSION_KNOBS

_PREFIX = "CONDENSE_"
# What clients, tools and tests of this service read.
_OTHERS = ("CONFIG", "TARGET", "TOKEN", "PYTHON", "VECTORS", "HYPOTHESIS")


def unknown_variables(env: Mapping[str, str], named: Iterable[str] = ()) -> list[str]:
    """A sentence for each variable that nothing reads; `named` are variables that settings name."""
    settings = [knob.env for knob in (*SERVER_KNOBS, *SESSION_KNOBS)]
    known = {*settings, *named, *(_PREFIX + name for name in _OTHERS)}
    unknown = sorted(name for name in env if name.startswith(_PREFIX) and name not in known)
    return [_sentence(name, settings) for name in unknown]


def _sentence(name: str, settings: Iterable[str]) -> str:
    # The prefix that all share would make everything look alike.
    close = get_close_matches(name.removeprefix(_PREFIX), [one.removeprefix(_PREFIX) for one in settings], n=1)
    advice = (
        f"did you mean {_PREFIX}{close[0]}?" if close else "`condense-grpc serve --help` lists those that there are"
    )
    return f"the environment variable {name[:80]} is no setting and is ignored: {advice}"

"""The command: `python -m bench [--rows NAME,...] [--rounds N] [--json] [--check] [--chart FILE]`."""

import argparse
import sys
from pathlib import Path

from bench.chart import scaling_chart
from bench.rows import ROWS
from bench.table import Row, as_json, as_text


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description="Measures against yardsticks: see the package.")
    parser.add_argument("--rows", default=",".join(ROWS), help=f"which rows, of: {', '.join(ROWS)}")
    parser.add_argument("--rounds", type=int, default=400, help="samples of a small call; large ones take fewer")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument("--check", action="store_true", help="fail when a row misses its target by more than a third")
    parser.add_argument("--chart", type=Path, metavar="SVG", help="measure turns over lengths and draw them instead")
    options = parser.parse_args()
    options.rows = [name for name in options.rows.split(",") if name]
    unknown = set(options.rows) - set(ROWS)
    if unknown:
        parser.error(f"no row {', '.join(sorted(unknown))}; there are {', '.join(ROWS)}")
    return options


def main() -> int:
    """Measure and print; the exit status."""
    options = _options()
    if options.chart is not None:
        print(scaling_chart(options.rounds, options.chart))
        return 0
    rows: list[Row] = []
    for name in options.rows:
        print(f"{name} …", file=sys.stderr, flush=True)
        rows.append(ROWS[name](options.rounds))
    print(as_json(rows) if options.json else as_text(rows))
    failed = [row.name for row in rows if row.is_failed]
    if options.check and failed:
        print(f"missed by more than a third: {', '.join(failed)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Command line: run operations and print the table, or show one vector with its answer."""

import argparse
import json
import sys
import traceback

from tests.vectorkit.load import find_vector, vectors_by_operation
from tests.vectorkit.registry import load_runners
from tests.vectorkit.run import judge, run_operation, table


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.vectorkit", description=__doc__)
    parser.add_argument("ops", nargs="*", metavar="op", help="operations to run (default: all)")
    parser.add_argument("--show", metavar="ID", help="print one vector: input, expectation, answer")
    parser.add_argument("-n", type=int, default=3, help="mismatches to print per operation (default 3)")
    options = parser.parse_args()
    if options.show:
        return show(options.show)
    unknown = set(options.ops) - set(vectors_by_operation())
    if unknown:
        parser.error(f"no vectors for {', '.join(sorted(unknown))}")
    outcomes = [run_operation(op) for op in options.ops or vectors_by_operation()]
    for outcome in outcomes:
        if not outcome.is_clean and not outcome.problem:
            print(outcome.report(options.n))
    print("\n".join(table(outcomes)))
    return 0 if all(outcome.is_clean for outcome in outcomes) else 1


def show(vector_id: str) -> int:
    vector = find_vector(vector_id)
    if vector is None:
        print(f"no vector {vector_id}")
        return 2
    print(f"{vector.op} {' '.join(sorted(vector.tags))}")
    _print("input", vector.input)
    _print("expected", vector.expected)
    runner = load_runners().get(vector.op)
    if runner is None:
        print("no runner")
        return 1
    try:
        _print("answer", runner.run(vector.input))
    except Exception:
        traceback.print_exc(file=sys.stdout)
    wrong = judge(runner, vector)
    print(f"== {wrong or 'right'}")
    return 1 if wrong else 0


def _print(title: str, value: object) -> None:
    print(f"== {title}\n{json.dumps(value, indent=1, ensure_ascii=False, default=repr)}")


if __name__ == "__main__":
    sys.exit(main())

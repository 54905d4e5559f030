"""How good the suite and its tests are, measured on faults: see docs/writing-cases.md.

`python -m tests.score COMMAND`; each fails if its score falls.
"""

import argparse
import sys

from tests.score import headlines, held_out, mutants, repeat

COMMANDS = {"mutants": mutants, "held-out": held_out, "headlines": headlines, "repeat": repeat}


def main() -> int:
    """Run a command; 0 if its score is reached."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, module in COMMANDS.items():
        text = str(module.__doc__)
        command = commands.add_parser(
            name, help=text.splitlines()[0], description=text, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        module.add_arguments(command)
    given, more = parser.parse_known_args()
    given.suite_options = more
    if more and given.command != "repeat":
        parser.error(f"unknown: {' '.join(more)}")
    return not COMMANDS[given.command].run(given)


if __name__ == "__main__":
    sys.exit(main())

"""Arguments, tables and claims of the scripts in this folder."""

import argparse
import sys

if sys.version_info < (3, 9):
    sys.exit(77)
try:
    import numpy  # noqa: F401
    import scipy  # noqa: F401
except ImportError:
    print("skipped: these scripts need NumPy and SciPy (python3-numpy, python3-scipy)")
    sys.exit(77)

_unmet = []


def arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("images", nargs="?", help="folder of images; default: synthetic images")
    parser.add_argument("--quick", action="store_true", help="use few images; default: many")
    return parser.parse_args()


def table(title, header, rows):
    cells = [[str(c) for c in row] for row in [header, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    print(f"\n{title}")
    for row in cells:
        print("  " + "  ".join(c.ljust(w) for c, w in zip(row, widths)).rstrip())


def claim(text, is_met):
    print(f"  {'ok      ' if is_met else 'NOT MET '} {text}")
    if not is_met:
        _unmet.append(text)


def finish():
    sys.exit(1 if _unmet else 0)


def number(x):
    return "0" if x == 0 else f"{x:.2g}"

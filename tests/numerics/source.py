"""Reads the constants of src/compute, so that these scripts use the same values."""

import pathlib
import re

COMPUTE = pathlib.Path(__file__).resolve().parents[2] / "src" / "compute"


def constant(file, name):
    """Returns the value of a `constexpr` in a file of src/compute; a tuple if it is an array."""
    text = re.sub(r"//.*", "", (COMPUTE / file).read_text())
    declarations = re.findall(r"\bconstexpr\b([^;(]*);", text)
    values = [match for declaration in declarations
              for match in re.findall(rf"\b{name}(?:\[[\w:]*\])? *= *(\{{[^}}]*\}}|[^,{{]+)", declaration)]
    if len(values) != 1:
        raise SystemExit(f"src/compute/{file} has {len(values)} definitions of {name}; expected one: change tests/numerics as well")
    numbers = [number(part, file, name) for part in values[0].strip("{}").split(",")]
    return tuple(numbers) if values[0].startswith("{") else numbers[0]


def number(text, file, name):
    """Returns the value of a C++ number, or of a sum of numbers."""
    terms = [term.strip().rstrip("Ff") for term in re.split(r"(?<![eE])\+", text)]
    try:
        parts = [float(term) for term in terms]
    except ValueError:
        raise SystemExit(f"src/compute/{file}: {name} = {text.strip()} is not a number") from None
    total = sum(parts)
    return int(total) if total.is_integer() and not re.search(r"[.eE]", text) else total

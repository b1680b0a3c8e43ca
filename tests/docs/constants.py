"""Compares the numeric constants of src/compute with the section "Every numeric constant" of docs/explanation/numerics.md.

A constant is a declaration `constexpr TYPE kName = VALUE` of a number, or of an array of numbers. It needs no row if its value has
no digit: it is then computed from other constants.

A row of a table names one or more constants in its first cell, `kName`, and their values in its second cell, in the same order
and separated by ", ". Where several files have a constant of that name, the first cell also names the files, without folder and
extension: `kDepth` (project)."""
import ast
import operator
import re
from dataclasses import dataclass

DOCUMENT = "docs/explanation/numerics.md"
SECTION = "## Every numeric constant"
TYPE = re.compile(r"(?:inline |static )*(?:(?:std::)?(?:u?int\d*_t|size_t|uintmax_t|ptrdiff_t)|unsigned|int|long|float|double|std::chrono::\w+|auto) ")
DECLARATOR = re.compile(r"\s*(k[A-Z]\w*)\s*(?:<[^>]*>)?\s*(\[\d*\])?\s*(?:=|(?=\{))\s*(.*)", re.DOTALL)
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
             ast.LShift: operator.lshift, ast.Pow: operator.pow, ast.USub: operator.neg}


@dataclass
class Constant:
    name: str
    file: str  # relative to the source folder
    stem: str
    text: str  # the value, as in the code
    values: list  # its numbers, or None if it depends on other constants


@dataclass
class Row:
    line: int
    names: list
    cell: str  # the first
    values: str


def evaluate(text):
    """Returns the number that an expression of literals has, or None."""
    def number(node):
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return node.value
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](number(node.left), number(node.right))
        if isinstance(node, ast.UnaryOp) and type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](number(node.operand))
        raise ValueError(text)
    try:
        return number(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError):
        return None


def code_value(text):
    """Returns the numbers of an initializer of literals, or None."""
    text = re.sub(r"std::\w+\(", "(", text.strip())
    text = re.sub(r"0x(\d+)p(\d+)F?", lambda m: f"({int(m[1], 16)}*2**{m[2]})", text)
    text = re.sub(r"(?<=[\d.])[FfUuLl]+\b", "", text).replace("'", "")
    parts = text[1:-1].split(",") if text.startswith("{") else [text]
    values = [evaluate(part) for part in parts]
    return None if None in values else values


def documented_value(text):
    """Returns the number at the beginning of a cell, such as 2 · 10⁻⁷, 26,754, 2²³ or 256 MiB; None if there is none."""
    match = re.match(r"[−-]?[\d.,]*\d(?:[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)?(?: [·+] [\d.]+(?:[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)?)*", text)
    if not match:
        return None
    expression = match[0].replace(",", "").replace("−", "-").replace("·", "*")
    expression = re.sub(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+", lambda m: "**" + m[0].translate(SUPERSCRIPTS), expression)
    value, unit = evaluate(expression), text[match.end():].split()[:1]
    return None if value is None else value * UNITS.get(unit[0] if unit else "", 1)


def declarators(text):
    """Splits at commas that are in no brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "({[") - (character in ")}]")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def constants_of(path, source):
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for match in re.finditer(r"\bconstexpr ((?:[^;{]|\{[^;{}]*\})*);", text):
        kind = TYPE.match(match[1])
        for part in declarators(match[1][kind.end():]) if kind else []:
            if (found := DECLARATOR.fullmatch(part)) and re.search(r"(?<!\w)[\d.]+", found[3]):
                yield Constant(found[1], str(path.relative_to(source)), path.name.split(".")[0], found[3],
                               code_value(found[3]))


def constants(source):
    return [constant for path in sorted((source / "src/compute").rglob("*")) if path.suffix in (".cpp", ".hpp", ".cu", ".cuh")
            for constant in constants_of(path, source)]


def rows(text):
    section = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("## "):
            section = line == SECTION
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if section and len(cells) > 1 and (names := re.findall(r"`(k[A-Z]\w*)`", cells[0])):
            yield Row(number, names, cells[0], cells[1])


def value_errors(constant, row, where):
    """Compares the values of the row with those of a constant of literals."""
    documented = [documented_value(part) for part in row.values.split(", ")]
    first = row.names.index(constant.name) if len(row.names) > 1 else 0
    found = documented[first:first + len(constant.values)] if len(row.names) > 1 else documented[:len(constant.values)]
    same = len(found) == len(constant.values) and all(
        value is not None and abs(value - expected) <= 1e-9 * abs(expected) for value, expected in zip(found, constant.values))
    return [] if same else [f"{where}: {constant.name} is {constant.text} in {constant.file}, and '{row.values}' in the table"]


def check(source):
    known, table = constants(source), list(rows((source / DOCUMENT).read_text(encoding="utf-8")))
    errors = []
    for constant in known:
        is_unique = len({other.file for other in known if other.name == constant.name}) == 1
        found = [row for row in table if constant.name in row.names and
                 (is_unique or re.search(rf"\([^)]*\b{constant.stem}\b[^)]*\)", row.cell))]
        if not found:
            errors.append(f"{constant.file}: {constant.name} = {constant.text} has no row in \"{SECTION[3:]}\" of {DOCUMENT}"
                          + ("" if is_unique else f" with ({constant.stem})"))
        for row in found:
            if constant.values is not None:
                errors += value_errors(constant, row, f"{DOCUMENT}:{row.line}")
    code = "\n".join(path.read_text(encoding="utf-8") for path in (source / "src").rglob("*") if path.suffix in (".cpp", ".hpp", ".cu", ".cuh"))
    errors += [f"{DOCUMENT}:{row.line}: {name} is not in src" for row in table for name in row.names
               if not re.search(rf"\b{name}\b", code)]
    return errors, f"{len(known)} constants of src/compute: all have a row, with their values"

"""Checks that --help and the manual pages have the exit codes of docs/reference/exit-codes.md."""
import re

from links import Help
from man_pages import paragraphs

PAGE = "docs/reference/exit-codes.md"


def rows(page, heading):
    """Yields the cells of each row of the tables below a heading."""
    section = page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    assert "\n| " in section, f"{PAGE} has no table below {heading}"
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and not cells[0].startswith(("code", "command", "---", "wrong")):
            yield cells


def numbers(text):
    return [int(number) for number in re.findall(r"\d+", text)]


def meanings(page):
    """Returns {code: meaning}. The row of the signals is one for each signal."""
    found = {}
    for codes, meaning in rows(page, "Codes"):
        words, signals = meaning, re.findall(r"SIG\w+", meaning)
        for i, code in enumerate(numbers(codes)):
            found[code] = words if not signals else words.partition("SIG")[0] + signals[i]
    return found


def special_codes(page, command):
    """Returns the codes of a command that have a row, except those of the table for all commands."""
    if command in ("run", "watch"):
        return {code for row in rows(page, f"`eckart {command}`") for code in numbers(row[0])}
    found, current = set(), ""
    for name, codes, _ in rows(page, "Other commands"):
        current = name.strip("`") or current
        if current.split()[0] == command:
            found.update(numbers(codes))
    return found


def help_rows(text):
    """Returns {code: meaning} of a --help text."""
    section = text.partition("\nExit codes:\n")[2].partition("\n\n")[0]
    return {int(code): meaning for code, meaning in re.findall(r"^  (\d+) +(.*)$", section, re.M)}


def man_codes(source, name):
    page = (source / f"docs/man/{name}.1").read_text(encoding="utf-8")
    return {code for heading, _ in paragraphs(page, "EXIT STATUS") for code in numbers(heading)}


def command_errors(source, page, help_of, command):
    meaning_of = meanings(page)
    shown = help_rows(help_of.text(*command.split()))
    for code, meaning in shown.items():
        if meaning != meaning_of.get(code):
            yield f"eckart {command} --help: {code} is '{meaning}', but '{meaning_of.get(code)}' in {PAGE}"
    if " " in command:
        return
    for code in sorted(special_codes(page, command) - shown.keys()):
        yield f"eckart {command} --help: has no exit code {code}, which {PAGE} has"
    for code in sorted(man_codes(source, f"eckart-{command}") - shown.keys()):
        yield f"docs/man/eckart-{command}.1: has the exit code {code}, which --help does not have"


def check(source, program):
    page = (source / PAGE).read_text(encoding="utf-8")
    help_of = Help(program)
    errors = []
    for command in [*help_of.commands, "ledger export", "ledger import"]:
        errors += command_errors(source, page, help_of, command)
    in_page, in_manual = set(meanings(page)), man_codes(source, "eckart")
    for code in sorted(in_page ^ in_manual):
        errors.append(f"docs/man/eckart.1 or {PAGE}: the exit code {code} is only in one of both")
    return errors

"""Generates the parts of the reference that the program prints: settings and command line."""
import re
import subprocess
import tempfile
from pathlib import Path

from links import Help

BEGIN = "<!-- generated: {} (tests/docs/check_docs.py generated --write) -->"
END = "<!-- end -->"
WATCH = "watches:\n  - input: {folder: /srv/in}\n    output: {folder: /srv/out}\n"


def table(rows):
    def escape(text):
        return text.replace("|", "\\|")
    lines = ["| key | default | values | meaning |", "| --- | --- | --- | --- |"]
    for key, default, values, meaning in rows:
        lines.append(f"| `{key}` | {f'`{default}`' if default else ''} | {escape(values)} | {escape(meaning)} |")
    return "\n".join(lines) + "\n"


def key_rows(lines):
    """Returns table rows for the lines of --print-config: `key: value  # meaning (values)`, with sections."""
    section = ""
    for line in lines:
        if heading := re.match(r"^(\w+):$", line):
            section = heading.group(1) + "."
            continue
        key, value, comment = re.match(r"^(\s*\w+): (.*?)\s+# (.*)$", line).groups()
        if not key.startswith(" "):
            section = ""
        meaning, values = re.match(r"^(.*) \(([^()]*)\)$", comment).groups()
        yield section + key.strip(), value, values, meaning


def printed(program, *arguments):
    return subprocess.run([program, *arguments, "--print-config"], check=True, capture_output=True, text=True).stdout


def settings(program):
    return table(key_rows(printed(program, "run").splitlines()))


def is_accepted(program, folder, key, value):
    """Returns whether a watch may set the key."""
    file = Path(folder) / "watch.yaml"
    section, _, name = key.rpartition(".")
    start = f"{section}: {{"
    if section and start in WATCH:
        text = WATCH.replace(start, f"{start}{name}: {value}, ")
    else:
        text = WATCH + (f"    {section}: {{{name}: {value}}}\n" if section else f"    {name}: {value}\n")
    file.write_text(text)
    run = subprocess.run([program, "watch", "--config", str(file), "--print-config"], capture_output=True, text=True)
    if run.returncode != 0 and "applies to all watches" not in run.stderr:
        raise RuntimeError(f"{key}: {value} in a watch: {run.stderr}")
    return run.returncode == 0


def watch_rows(program):
    """Returns rows as key_rows() does for the keys that only a watch has."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "watch.yaml"
        file.write_text(WATCH)
        text = printed(program, "watch", "--config", str(file))
    lines = [re.sub(r"^  (- |  )", "", line) for line in text.partition("\nwatches:")[2].splitlines()[1:]]
    return [(key, "" if key in ("input.folder", "output.folder") else value, values, meaning)
            for key, value, values, meaning in key_rows(lines)]


def watch_keys(program):
    """Returns the keys that only a watch has, and the keys of a run that a watch may set."""
    own = watch_rows(program)
    with tempfile.TemporaryDirectory() as folder:
        of_run = [row for row in key_rows(printed(program, "run").splitlines()) if row[0] != "watches"]
        shared = [f"`{key}`" for key, value, _, _ in of_run if is_accepted(program, folder, key, value)]
    return table(own) + "\nA watch may also set these keys of the first table: " + ", ".join(shared) + ".\n"


def command_line(program):
    help_of = Help(program)
    text = f"```text\n{help_of.text().strip()}\n```\n"
    for command in help_of.commands:
        text += f"\n## eckart {command}\n\n```text\n{help_of.text(command).strip()}\n```\n"
        if command == "ledger":
            for part in ("export", "import"):
                text += f"\n### eckart ledger {part}\n\n```text\n{help_of.text(command, part).strip()}\n```\n"
    return text


SECTIONS = [
    ("docs/reference/settings.md", "settings", settings),
    ("docs/reference/settings.md", "watches", watch_keys),
    ("docs/reference/command-line.md", "command line", command_line),
]


def check(source, program, write):
    errors = []
    for file, name, make in SECTIONS:
        path = source / file
        text = path.read_text(encoding="utf-8")
        begin = BEGIN.format(name)
        if begin not in text or END not in text.partition(begin)[2]:
            errors.append(f"{file}: has no section {begin}")
            continue
        before, _, rest = text.partition(begin)
        new = f"{before}{begin}\n\n{make(program)}\n{END}{rest.partition(END)[2]}"
        if write:
            path.write_text(new, encoding="utf-8")
        elif new != text:
            errors.append(f"{file}: the section '{name}' is not what the program prints; "
                          "tests/docs/check_docs.py generated --write updates it")
    return errors, f"{len(SECTIONS)} generated sections: as the program prints them"

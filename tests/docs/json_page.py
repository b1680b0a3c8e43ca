"""Compares the JSON that commands print with the tables of docs/reference/json.md.

Each object must have `kind` as its first key, and exactly the keys of its table, of their types. Each kind must be in the index. Each
kind with a table must occur."""
import json
import re
import subprocess
import tempfile
import time
from pathlib import Path

PAGE = "docs/reference/json.md"
TYPES = {"string": lambda value: isinstance(value, str), "null": lambda value: value is None,
         "boolean": lambda value: isinstance(value, bool), "object": lambda value: isinstance(value, dict),
         "array": lambda value: isinstance(value, list),
         "integer": lambda value: isinstance(value, int) and not isinstance(value, bool)}


def tables(text):
    """Returns kind -> key -> names of types."""
    found = {}
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        kind = re.match(r"kind `(\w+)`", section).group(1)
        found[kind] = {key: types.split(" or ") for keys, types in re.findall(r"^\| (`[^|]*) \| ([a-z ]+) \|", section, re.M)
                       for key in re.findall(r"`(\w+)`", keys)}
    return found


def output(program, folder, *arguments):
    run = subprocess.run([program, *arguments], cwd=folder, stdin=subprocess.DEVNULL, text=True, capture_output=True)
    return run.stdout.splitlines()


def quarantined(program, folder):
    """Makes an output folder `watched` with an input in its quarantine."""
    (folder / "arrived").mkdir()
    (folder / "arrived/bad.png").write_text("text")
    (folder / "watch.yaml").write_text(f"watches: [{{input: {folder}/arrived, output: {folder}/watched, settle_ms: 0, retry_timeout_s: 0}}]")
    with subprocess.Popen([program, "watch", "--config", "watch.yaml"], cwd=folder, stderr=subprocess.DEVNULL) as watch:
        deadline = time.monotonic() + 60
        while not list(folder.glob("watched/.eckart/quarantine/*.json")) and time.monotonic() < deadline:
            time.sleep(0.02)
        watch.terminate()


def samples(program, folder):
    """Yields the JSON lines of commands."""
    output(program, folder, "synth", "-o", "in", "--kind", "texture", "--count", "3", "--size", "64")
    (folder / "in/bad.png").write_text("text")
    (Path(folder) / "list").write_text("in\nmissing.png\n")
    yield from output(program, folder, "run", "--files-from", "list", "-o", "out", "--dry-run", "--json")
    yield from output(program, folder, "run", "in", "-o", "out", "--json", "--report", "-",
                      "--set", "telemetry.throughput_log=log")
    yield from (folder / "log").read_text().splitlines()
    (folder / "in/texture_64x64_0001.png").unlink()
    for command in (("status", "out"), ("prune", "out"), ("doctor", "--backend", "cpu"), ("plan", "log")):
        yield from output(program, folder, *command, "--json")
    yield from output(program, folder, "ledger", "export", "out")
    quarantined(program, folder)
    yield from output(program, folder, "requeue", "watched", "--json")


def line_errors(line, known, index):
    value = json.loads(line)
    kind = value.get("kind")
    if kind not in index:
        return [f"{PAGE}: the index has no kind of this line: {line}"]
    if kind not in known:
        return []
    types = known[kind]
    errors = [f"{PAGE}: `{kind}`: the output has no {key}" for key in types if key not in value]
    errors += [f"{PAGE}: `{kind}`: has no row for {key}" for key in value if key not in types and key != "kind"]
    errors += [f"{PAGE}: `{kind}`: {key} is {value[key]!r}, not {' or '.join(types[key])}" for key in types
               if key in value and not any(TYPES[name](value[key]) for name in types[key])]
    return errors + ([f"{kind}: `kind` is not the first key"] if next(iter(value)) != "kind" else [])


def check(source, program):
    text = (source / PAGE).read_text(encoding="utf-8")
    known, index = tables(text), set(re.findall(r"`(\w+)`", text.partition("\n## ")[0]))
    errors, kinds = [], set()
    with tempfile.TemporaryDirectory(prefix="eckart-json-") as folder:
        for line in samples(program, Path(folder)):
            kinds.add(json.loads(line).get("kind"))
            errors += line_errors(line, known, index)
    errors += [f"{PAGE}: no command printed kind `{kind}`" for kind in known if kind not in kinds]
    return sorted(set(errors)), f"{len(kinds)} kinds of JSON lines: as {PAGE} has them"

"""Compares the JSON that commands print with the tables of docs/reference.

A table is below a heading "kind `NAME`" or "object `NAME`" and has the columns key, type, unit, meaning. docs/reference/json.md says what a
type means, and lists all kinds. Each object must have the keys of its table and no others, of their types. A key that is not
optional must be in every object, and every key must occur."""
import json
import re
from pathlib import Path

import json_samples

PAGES = "docs/reference"
INDEX = "docs/reference/json.md"
HEADER = "| key | type | unit | meaning |"
BASIC = {"string": lambda value: isinstance(value, str), "null": lambda value: value is None,
         "boolean": lambda value: isinstance(value, bool),
         "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
         "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool)}
UNITS = {"_s": "s", "_ms": "ms", "_ns": "ns", "_bytes": "bytes", "_db": "dB", "_w": "W", "_j": "J", "_mhz": "MHz", "_c": "°C",
         "images_per_s": "images/s", "failed_per_s": "images/s", "pixels_per_s": "pixels/s", "bytes_per_s": "bytes/s",
         "files_per_s": "files/s"}


class Table:
    """The keys of an object: their types, and which are optional."""

    def __init__(self, page, name, text):
        self.page, self.name = page, name
        self.types, self.optional, self.units = {}, set(), {}
        for keys, type_text, unit in re.findall(r"^\| (`[^|]*`) \| ([^|]*) \| ([^|]*)\|", text, re.M):
            type_text, _, optional = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", type_text).strip().partition(", ")
            for key in re.findall(r"`(\w+)`", keys):
                self.types[key], self.units[key] = type_text, unit.strip()
                if optional == "optional":
                    self.optional.add(key)
        self.shown = set()

    def errors(self):
        for key, unit in self.units.items():
            expected = next((UNITS[end] for end in sorted(UNITS, key=len, reverse=True) if key.endswith(end)), unit)
            if unit != expected and not (unit and self.types[key].startswith("estimate")):
                yield f"`{key}` has the unit '{unit}', not '{expected}'"


class Reference:
    """All tables of the pages."""

    def __init__(self, source):
        self.tables, self.kinds, self.errors = {}, {}, []
        for page in sorted((source / PAGES).glob("*.md")):
            self._read(page.name, page.read_text(encoding="utf-8"))
        index = (source / INDEX).read_text(encoding="utf-8").partition("\n## ")[0]
        listed = {kind for row in re.findall(r"^\| (`[^|]*) \|", index, re.M) for kind in re.findall(r"`(\w+)`", row)}
        self.errors += [f"{INDEX}: the index has `{kind}`, and no page has its table" for kind in listed - set(self.kinds)]
        self.errors += [f"{INDEX}: the index has no `{kind}`" for kind in set(self.kinds) - listed]

    def _read(self, page, text):
        for section in re.split(r"^#+ ", text, flags=re.M)[1:]:
            heading, _, body = section.partition("\n")
            if HEADER not in body:
                continue
            if not (what := re.match(r"(kind|object)s? `", heading)):
                self.errors.append(f"{page}: a table of keys below '{heading}', which is no kind and no object")
                continue
            for name in re.findall(r"`(\w+)`", heading):
                table = self.tables[page, name] = Table(page, name, body)
                if what.group(1) == "kind":
                    self.kinds[name] = table
                self.errors += [f"{page}: {name}: {error}" for error in table.errors()]

    def _error(self, table, text):
        self.errors.append(f"{table.page}: `{table.name}`: {text}")

    def _matches(self, table, value, type_text):
        """Whether the value is of the type. Errors within an object are added to the others."""
        for prefix, container, items in (("array of ", list, list), ("object of ", dict, dict.values)):
            if type_text.startswith(prefix):
                rest = type_text.removeprefix(prefix)
                return isinstance(value, container) and all(self._matches(table, item, rest) for item in items(value))
        first, _, others = type_text.partition(" or ")
        if others:
            return self._matches(table, value, first) or self._matches(table, value, others)
        if first in BASIC:
            return BASIC[first](value)
        named = self.tables.get((table.page, first)) or self.kinds.get(first)
        if not named:
            self._error(table, f"no table of the type '{first}'")
        elif isinstance(value, dict):
            self.check(named, value)
            return True
        return False

    def check(self, table, value):
        """Compares an object with its table."""
        if self.kinds.get(table.name) is table:
            if next(iter(value.items()), None) != ("kind", table.name):
                self._error(table, f"`kind` is not its first key: {value}")
            value = {key: item for key, item in value.items() if key != "kind"}
        for key in table.types.keys() - table.optional - value.keys():
            self._error(table, f"the output has no `{key}`: {value}")
        for key, item in value.items():
            if key not in table.types:
                self._error(table, f"has no row for `{key}`")
            elif not self._matches(table, item, table.types[key]):
                self._error(table, f"`{key}` is {item!r}, not {table.types[key]}")
        table.shown |= value.keys()

    def check_line(self, value):
        table = self.kinds.get(value.get("kind"))
        if table:
            self.check(table, value)
        else:
            self.errors.append(f"no page has the kind of this object: {value}")

    def check_all_shown(self):
        not_shown = json_samples.NEED_RABBITMQ if json_samples.missing_rabbitmq() else set()
        for table in self.tables.values():
            if table.name in not_shown:
                continue
            unseen = table.types.keys() - table.shown
            if unseen:
                self._error(table, f"no command printed {', '.join(sorted(unseen))}")


def check(source, program, gpu_folder):
    reference = Reference(source)
    kinds = set()
    for value in json_samples.samples(program, gpu_folder, reference.errors):
        kinds.add(value.get("kind"))
        reference.check_line(value)
    reference.check_all_shown()
    return sorted(set(reference.errors)), f"{len(kinds)} kinds of JSON lines, {len(reference.tables)} tables: all as documented"

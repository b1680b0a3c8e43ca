"""Parses Markdown documents: fenced blocks, links, headings and inline code."""
import re
from dataclasses import dataclass, field
from pathlib import Path

COMMAND_COLUMNS = ["command", "shows"]
MARKER = re.compile(r"^<!-- (exit|wait|no) (.+) -->$")


@dataclass
class Block:
    """A fenced block, or a row of a table with commands. `markers` are the comments on the lines directly before it."""
    language: str  # "row": the text is the command of the row, and markers have its last cell as "shows"
    line: int  # of the fence or the row, from 1
    text: str = ""
    markers: dict = field(default_factory=dict)


@dataclass
class Document:
    path: Path
    name: str  # relative to the source folder
    text: str
    blocks: list
    prose: list  # (line number, line) outside of fenced blocks


def command_row(cells, number):
    """Returns the block of a row of a table with the columns subject, command, shows."""
    command = re.fullmatch(r"`([^`]+)`", cells[1])
    if not command:
        raise ValueError(f"line {number}: the column command is not one command in code font")
    return Block("row", number, command.group(1), {"shows": cells[2]})


def read(path, source):
    text = path.read_text(encoding="utf-8")
    blocks, prose, markers, block, head = [], [], {}, None, []
    for number, line in enumerate(text.splitlines(), 1):
        fence = re.match(r"^\s*```(\w*)\s*$", line)
        if block is not None:
            if fence and not fence.group(1):
                blocks.append(block)
                block = None
            else:
                block.text += line + "\n"
        elif fence:
            block = Block(fence.group(1), number, markers=markers)
            markers = {}
        elif marker := MARKER.match(line):
            markers = {**markers, marker.group(1): marker.group(2)}
        else:
            markers = markers if not line.strip() else {}
            prose.append((number, line))
            cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
            head = head if head and cells else cells
            if head[1:] == COMMAND_COLUMNS and cells != head and not set("".join(cells)) <= set("- "):
                blocks.append(command_row(cells, number))
    if block is not None:
        raise ValueError(f"{path}:{block.line}: the block does not end")
    return Document(path, str(path.relative_to(source)), text, blocks, prose)


def documents(source):
    paths = [source / "README.md", source / "deploy/README.md", *sorted((source / "docs").rglob("*.md"))]
    return [read(path, source) for path in paths]


def without_code(line):
    return re.sub(r"`[^`]*`", "``", line)


def links(document):
    """Yields (line number, target) of each link and image."""
    for number, line in document.prose:
        for target in re.findall(r"\]\(([^()\s]+)\)", without_code(line)):
            yield number, target


def code_spans(document):
    for number, line in document.prose:
        for code in re.findall(r"`([^`]+)`", line):
            yield number, code


def anchors(document):
    """Returns the anchors that GitHub generates for the headings, and those of lines like <a id="name"></a>."""
    found = set()
    for _, line in document.prose:
        if explicit := re.match(r'^<a id="([\w-]+)"></a>$', line):
            found.add(explicit.group(1))
        if heading := re.match(r"^#+ (.*)$", line):
            text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading.group(1)).replace("`", "")
            anchor = re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")
            unique, count = anchor, 0
            while unique in found:
                count += 1
                unique = f"{anchor}-{count}"
            found.add(unique)
    return found

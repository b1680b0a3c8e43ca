"""Checks the links between documents, and what the documents say about the command line."""
import re
import subprocess

import markdown

MAX_README_LINES = 110


def link_errors(source, documents):
    known = {document.path.resolve(): markdown.anchors(document) for document in documents}
    for document in documents:
        for number, target in markdown.links(document):
            if re.match(r"^[a-z]+:", target):
                continue
            file, _, anchor = target.partition("#")
            path = (document.path.parent / file).resolve() if file else document.path.resolve()
            where = f"{document.name}:{number}: {target}"
            if not path.exists():
                yield f"{where}: there is no such file"
            elif anchor and path not in known:
                yield f"{where}: an anchor of a file that is not a document"
            elif anchor and anchor not in known[path]:
                yield f"{where}: the document has no such heading"


def linked_documents(documents):
    paths = set()
    for document in documents:
        for _, target in markdown.links(document):
            if not re.match(r"^[a-z]+:", target):
                paths.add((document.path.parent / target.partition("#")[0]).resolve())
    return paths


def orphan_errors(source, documents):
    """Checks that each document of docs/ is in the index."""
    index = next(document for document in documents if document.name == "docs/README.md")
    in_index = linked_documents([index])
    for document in documents:
        if document.name.startswith("docs/") and document is not index and document.path.resolve() not in in_index:
            yield f"docs/README.md: has no link to {document.name}"


def path_errors(source):
    """Checks that paths of documents in code, tests and build files exist."""
    for folder in ["src", "tests", "deploy", "tools", "config", "docs/man", "CMakeLists.txt"]:
        top = source / folder
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if not path.is_file() or "__pycache__" in path.parts or path.suffix in (".png", ".jpg"):
                continue
            text = path.read_text(encoding="utf-8", errors="replace")
            for name in re.findall(r"(?<![\w/.{}$-])/?(docs/[\w/-]+\.(?:md|json))", text):
                if not (source / name).exists():
                    yield f"{path.relative_to(source)}: names {name}, which does not exist"


def source_errors(source, documents):
    """`pipeline/activity`, `tools/fuzz-test` or `src/app/job.cpp` in a document must be a file, a folder, or a pair of .hpp and .cpp files."""
    folders = {path.name for path in (source / "src").iterdir() if path.is_dir()}
    for document in documents:
        if document.name.startswith("docs/history/"):
            continue
        for number, code in markdown.code_spans(document):
            word = code.split()[0].rstrip("/") if code.split() else ""
            top = word.partition("/")[0]
            if "/" not in word or re.search(r"[*{}<>$:]", word):
                continue
            path = source / ("src/" + word if top in folders else word)
            if top in folders | {"src", "tests", "tools", "config", "docs", "deploy"}:
                if not path.exists() and not list(path.parent.glob(path.name + ".*")):
                    yield f"{document.name}:{number}: names {word}, which does not exist"


def length_errors(documents):
    lines = len(documents[0].text.splitlines())
    if lines > MAX_README_LINES:
        yield f"README.md: {lines} lines; at most {MAX_README_LINES}"


def check(source):
    documents = markdown.documents(source)
    errors = [*link_errors(source, documents), *orphan_errors(source, documents), *path_errors(source),
              *source_errors(source, documents), *length_errors(documents)]
    count = sum(1 for document in documents for _ in markdown.links(document))
    return errors, f"{len(documents)} documents with {count} links: all in order"


class Help:
    """The options of each command, from --help."""

    def __init__(self, program):
        self._program = program
        self._options = {}
        self.commands = re.findall(r"^  (\w+)  ", self.text().partition("\nOptions:")[0], re.M)

    def text(self, *command):
        return subprocess.run([self._program, *command, "--help"], check=True, capture_output=True, text=True).stdout

    def options(self, *command):
        if command not in self._options:
            self._options[command] = set(re.findall(r"(?<![\w-])--?[a-zA-Z][a-z0-9-]*", self.text(*command)))
        return self._options[command]


def span_errors(documents, program):
    """Checks that `eckart COMMAND --option` in a sentence or a table exists."""
    help_of = Help(program)
    for document in documents:
        if document.name.startswith("docs/history/"):
            continue
        for number, code in markdown.code_spans(document):
            words = code.split()
            if words[0] != "eckart" or len(words) < 2 or not re.match(r"^[a-z]+$", words[1]):
                continue
            where = f"{document.name}:{number}: `{code}`"
            if words[1] not in help_of.commands and words[1] != "help":
                yield f"{where}: there is no such command"
                continue
            command = words[1:3] if words[1] == "ledger" and words[2:3] in (["export"], ["import"]) else words[1:2]
            options = help_of.options(*command) | help_of.options(words[1])
            for word in words[2:]:
                option = word.partition("=")[0]
                if re.match(r"^--?[a-z]", option) and option not in options:
                    yield f"{where}: {words[1]} has no {option}"

"""Checks that the manual pages explain options and keys in the words of --help and --print-config."""
import re

from generated import printed, key_rows, watch_rows
from links import Help

OPTION = re.compile(r"^  (?:    |-\w, )(--[a-z0-9-]+)(?: [^ ]+)?(?:  +(.*))?$")


def help_texts(text):
    """Yields (long flag, description without values and default) for each option of a --help text."""
    flag, description = None, []
    for line in [*text.splitlines(), ""]:
        if flag and re.match(r"^ {8,}\S", line):
            description.append(line.strip())
            continue
        if flag:
            yield flag, " ".join(description).partition(" [values:")[0].partition(" [default:")[0]
        flag = None
        if option := OPTION.match(line):
            flag, description = option.group(1), [option.group(2)] if option.group(2) else []


def plain(lines):
    """Returns roff text without macros and escapes."""
    words = []
    for line in lines:
        if macro := re.match(r"^\.(BR|RB|IR|RI|BI|IB|B|I) (.*)$", line):
            arguments = [quoted or bare for quoted, bare in re.findall(r'"([^"]*)"|(\S+)', macro.group(2))]
            line = ("" if len(macro.group(1)) == 2 else " ").join(arguments)
        elif line.startswith("."):
            continue
        words.append(line)
    text = re.sub(r"\\f.", "", " ".join(words))
    for escape, character in ((r"\-", "-"), (r"\(dq", '"'), (r"\(aq", "'"), (r"\e", "\\")):
        text = text.replace(escape, character)
    return text


def paragraphs(page, section):
    """Yields (heading, text) for each tagged paragraph of a section."""
    text = page.partition(f"\n.SH {section}\n")[2].partition("\n.SH ")[0]
    for paragraph in text.split(".TP\n")[1:]:
        heading, *lines = paragraph.splitlines()
        yield plain([heading]), plain(lines)


def same_beginning(text, beginning):
    return text[:1].lower() + text[1:len(beginning)] == beginning[:1].lower() + beginning[1:]


def command_errors(source, program):
    help_of = Help(program)
    for command in help_of.commands:
        name = f"docs/man/eckart-{command}.1"
        explained = list(paragraphs((source / name).read_text(encoding="utf-8"), "OPTIONS"))
        for flag, description in help_texts(help_of.text(command)):
            texts = [text for heading, text in explained if re.search(rf"{flag}(?![\w-])", heading)]
            if not any(same_beginning(text, description) for text in texts):
                yield f"{name}: the text of {flag} does not begin with '{description}'"


def key_errors(source, program):
    name = "docs/man/eckart.yaml.5"
    page = (source / name).read_text(encoding="utf-8")
    for section, rows in (("KEYS", key_rows(printed(program, "run").splitlines())), ("WATCHES", watch_rows(program))):
        explained = {heading.partition(":")[0]: text for heading, text in paragraphs(page, section)}
        for key, _, _, meaning in rows:
            if not same_beginning(explained.get(key, ""), meaning):
                yield f"{name}: the text of {key} does not begin with '{meaning}'"


def check(source, program):
    return [*command_errors(source, program), *key_errors(source, program)]

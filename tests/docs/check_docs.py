#!/usr/bin/env python3
"""Checks README.md, docs/ and deploy/README.md against the source tree and the program.

  check_docs.py links                                links, anchors, the index, names of documents in the code
  check_docs.py commands PROGRAM [DOCUMENT...]       runs the commands, as described in tests/docs/commands.py
  check_docs.py constants                            numeric constants of src/compute and their table in numerics.md
  check_docs.py figures [--write]                    tables and plots of the lessons, and docs/results
  check_docs.py json PROGRAM GPU_FOLDER              real output of commands and the tables of keys in docs/reference
  check_docs.py generated PROGRAM [--write]          checks the reference of settings and command line; --write updates it.
                                                     Checks that manual pages have the words of --help and --print-config,
                                                     and that both have the exit codes of the reference
"""
import sys
from pathlib import Path

import commands
import constants
import exit_codes
import figures
import generated
import json_page
import links
import man_pages
import markdown

SOURCE = Path(__file__).resolve().parents[2]


def check_commands(program, names):
    documents = markdown.documents(SOURCE)
    chosen = [document for document in documents if not names or document.name in names]
    errors, not_run, unused, ran = commands.check(chosen, program)
    errors += links.span_errors(chosen, program)
    if not names:
        errors += [f"tests/docs/not_run.py: no document has a command like {pattern}" for pattern in unused]
    for document, command, reason in not_run:
        print(f"not run: {document}: {command} ({reason})")
    return errors, f"{ran} commands of {len(chosen)} documents: all as documented; {len(not_run)} not run"


def main():
    match sys.argv[1:]:
        case ["links"]:
            errors, summary = links.check(SOURCE)
        case ["constants"]:
            errors, summary = constants.check(SOURCE)
        case ["figures", *rest] if rest in ([], ["--write"]):
            errors, summary = figures.check(SOURCE, bool(rest))
        case ["commands", program, *names]:
            errors, summary = check_commands(str(Path(program).resolve()), names)
        case ["json", program, gpu_folder]:
            errors, summary = json_page.check(SOURCE, str(Path(program).resolve()), Path(gpu_folder).resolve())
        case ["generated", program, *rest] if rest in ([], ["--write"]):
            program = str(Path(program).resolve())
            errors, summary = generated.check(SOURCE, program, bool(rest))
            errors += man_pages.check(SOURCE, program) + exit_codes.check(SOURCE, program)
        case _:
            print(__doc__, file=sys.stderr)
            sys.exit(64)
    print("\n".join(errors) or summary)
    sys.exit(1 if errors else 0)


main()

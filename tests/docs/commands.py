"""Runs the commands of the documents, in order, in a folder for each document.

The folder is empty for README.md, the tutorial and the how-tos, which make their own files. For all other documents it has `photos`,
`scans`, `portrait.jpg` and `photo.png`.

A ```sh block holds commands. Each is run by bash, with the program first in PATH, and must exit with 0. Comments directly
before a block change this:
  <!-- exit 3 -->      the last command of the block exits with 3
  <!-- wait TEXT -->   first waits until the log of `eckart watch` has a line with TEXT
  <!-- no output -->   the next ```text block is not the output of these commands
A ```yaml block whose first line is `# NAME.yaml` is written to that file. A ```text block after a ```sh block shows output:
each line must occur in the output of the commands, except for numbers, the number of spaces, and text after `…`.

A table with the columns command and shows is run too, row by row. Text in code font in its last column must occur in the output, except
for numbers; "exit code N" there says that the command exits with N.

`eckart watch` is started in the background. It is ready when its log says so, and is stopped with SIGTERM at the end of the document.
"""
import os
import queue
import random
import re
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from not_run import NOT_RUN

RUN = {"eckart", "cat", "cp", "curl", "find", "head", "ls", "mkdir", "mv", "printf", "python3", "rm", "tail", "taskset", "touch"}
KEYWORDS = {"for", "do", "done", "in", "if", "then", "fi", "while"}
ADDRESS = "127.0.0.1:9464"
HOME = "/home/me"  # the home folder in example output
TIMEOUT_S = 120


class Failure(Exception):
    pass


def is_self_contained(name):
    return name in ("README.md", "docs/tutorial.md") or name.startswith("docs/how-to/")


def is_complete(text):
    if text.endswith("\\\n"):
        return False
    if heredoc := re.search(r"<<'?(\w+)'?", text):
        return f"\n{heredoc.group(1)}\n" in text
    return subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True).returncode == 0


def split(block):
    """Returns the commands of a block: single lines, loops, or lines joined by a backslash."""
    text = ""
    for line in block.text.splitlines(keepends=True):
        if not text and (not line.strip() or line.lstrip().startswith("#")):
            continue
        text += line
        if is_complete(text):
            yield text.strip()
            text = ""
    if text:
        raise Failure(f"bash does not understand: {text}")


def programs(command):
    """Returns the programs that a command starts."""
    lexer = shlex.shlex(command.partition("<<")[0], posix=True, punctuation_chars="|&;")
    lexer.whitespace_split = True
    is_first, to_skip = True, 0
    for word in lexer:
        if to_skip:
            to_skip -= 1
        elif set(word) <= set("|&;") or word in ("do", "then"):
            is_first = True
        elif is_first and (word in KEYWORDS or re.match(r"^\w+=", word)):
            is_first = word not in ("for", "in")
        elif is_first:
            is_first = word == "taskset"  # -c LIST PROGRAM
            to_skip = 2 * is_first
            yield word


def reason_not_to_run(command):
    if listed := next((reason for pattern, reason in NOT_RUN if re.match(pattern, command)), None):
        return listed
    missing = [name for name in programs(command) if name in RUN - {"eckart"} and not shutil.which(name)]
    return f"not installed here: {', '.join(missing)}" if missing else None


def own_cpus():
    """Returns lists of one and of two CPUs that this process may use, for taskset."""
    cpus = sorted(os.sched_getaffinity(0))
    return f"{cpus[0]} {cpus[0]},{cpus[-1]}"


def is_service(command):
    return command.startswith("eckart watch") and not re.search(r"--(check|print-config|help)\b", command)


def free_port():
    """A port that the system does not choose for connections of other tests: those are from 32768 on."""
    while True:
        port = random.randrange(20000, 32768)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


def normalized(line):
    line = re.sub(r"^(\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d ", "", line.rstrip())
    return re.sub(r"\d[\d,.]*\d|\d", "#", line)


def words(line):
    """Without what depends on the numbers: the widths of columns and the units of times."""
    line = re.sub(r"# (µs|ms|s)\b", "# s", " ".join(normalized(line).split()))
    return line.replace("# s/image", "# images/s")  # of a slow machine


class Service:
    """`eckart watch` in the background; its log is read by a thread."""

    def __init__(self, command, folder, environment):
        self._process = subprocess.Popen(["bash", "-c", "exec " + command], cwd=folder, env=environment, text=True,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        self._lines = queue.Queue()
        self.log = ""
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self):
        for line in self._process.stderr:
            self._lines.put(line)
        self._lines.put(None)

    def wait_for(self, text):
        if text in self.log:
            return
        while True:
            try:
                line = self._lines.get(timeout=TIMEOUT_S)
            except queue.Empty:
                raise Failure(f"the log of eckart watch has no '{text}' after {TIMEOUT_S} s:\n{self.log}") from None
            if line is None:
                raise Failure(f"eckart watch ended before its log had '{text}':\n{self.log}")
            self.log += line
            if text in line:
                return

    def stop(self):
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        try:
            code = self._process.wait(TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        self._reader.join()
        self._process.stderr.close()
        while (line := self._lines.get()) is not None:
            self.log += line
        return code


class Runner:
    def __init__(self, document, program, samples):
        self._document = document
        self._program = program
        self._samples = samples
        self._port = str(free_port())
        self.ran = 0
        self.errors = []
        self.not_run = []

    def run(self):
        with tempfile.TemporaryDirectory(prefix="eckart-docs-") as folder:
            self._folder = Path(folder)
            self._work = self._folder / "work"
            if is_self_contained(self._document.name):
                self._work.mkdir()
            else:
                shutil.copytree(self._samples, self._work)
            (self._folder / "bin").mkdir()
            (self._folder / "bin/eckart").symlink_to(self._program)
            self._service = None
            try:
                self._run_blocks()
            except (Failure, subprocess.TimeoutExpired) as error:
                self.errors.append(f"{self._where}: {error}")
            finally:
                if self._service and (code := self._service.stop()) != 0:
                    self.errors.append(f"{self._document.name}: eckart watch ended with {code}:\n{self._service.log}")
        return self

    def _run_blocks(self):
        output = None
        for block in self._document.blocks:
            self._where = f"{self._document.name}:{block.line}"
            if block.language == "yaml" and (name := re.match(r"^# ([\w-]+\.yaml)\n", block.text)):
                (self._work / name.group(1)).write_text(self._here(block.text))
            elif block.language == "sh":
                output = self._run_block(block)
                if "no" in block.markers:
                    output = None
            elif block.language == "row":
                self._run_row(block)
            elif block.language == "text" and output is not None:
                self._check_output(block, output)
                output = None

    def _here(self, text):
        """Replaces address, folders and CPUs in a text of the document by those that this process may use."""
        text = text.replace(ADDRESS, f"127.0.0.1:{self._port}").replace("/srv/", f"{self._work}/srv/")
        return text.replace("for cores in 0 0-1;", f"for cores in {own_cpus()};")

    def _run_block(self, block):
        """Returns the output of the commands; None if one of them was not run."""
        if "wait" in block.markers:
            if not self._service:
                raise Failure("waits for the log of a service, and there is none")
            self._service.wait_for(block.markers["wait"])
        output, is_complete_output = "", True
        commands = list(split(block))
        for command in commands:
            if reason := reason_not_to_run(command):
                self.not_run.append((self._document.name, command.splitlines()[0], reason))
                is_complete_output = False
                continue
            if unknown := set(programs(command)) - RUN:
                raise Failure(f"`{command}` is neither run (tests/docs/commands.py has no "
                              f"{', '.join(sorted(unknown))}) nor listed in tests/docs/not_run.py")
            expected = int(block.markers.get("exit", 0)) if command == commands[-1] else 0
            output += self._run_command(command, expected)
            self.ran += 1
        return output if is_complete_output else None

    def _run_row(self, block):
        """Runs the command of a row of a table, and compares its output with the last column."""
        if not block.text.startswith("eckart "):
            raise Failure(f"`{block.text}` is no command of eckart")
        shows = block.markers["shows"]
        exit_code = re.search(r"exit code (\d+)", shows)
        output = normalized(self._run_command(block.text, int(exit_code.group(1)) if exit_code else 0))
        self.ran += 1
        for span in re.findall(r"`([^`]+)`", shows):
            if normalized(span) not in output:
                self.errors.append(f"{self._where}: `{block.text}` does not show '{span}'; the output is:\n{output}")

    def _environment(self):
        own = {name: str(self._folder / "home") for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
        (self._folder / "home").mkdir(exist_ok=True)
        return {**os.environ, **own, "TMPDIR": str(self._folder), "LC_ALL": "C.UTF-8",
                "PATH": f"{self._folder / 'bin'}:{os.environ['PATH']}"}

    def _run_command(self, command, expected):
        if is_service(command):
            self._service = Service(self._here(command), self._work, self._environment())
            self._service.wait_for(" I ready: ")
            return self._service.log
        run = subprocess.run(["bash", "-u", "-o", "pipefail", "-c", self._here(command)], cwd=self._work,
                             env=self._environment(), text=True, encoding="utf-8", errors="replace", timeout=TIMEOUT_S,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if run.returncode != expected:
            raise Failure(f"`{command}` ended with {run.returncode} instead of {expected}:\n{run.stdout}")
        return run.stdout

    def _check_output(self, block, output):
        log = self._service.log if self._service else ""
        text = (output + log).replace(f"{self._work}/srv/", "/srv/").replace(str(self._work), HOME)
        there = [words(line) for line in text.splitlines()]
        for line in block.text.splitlines():
            shown, *rest = words(line).split("…")
            if shown and not any(actual.startswith(shown) if rest else actual == shown for actual in there):
                self.errors.append(f"{self._document.name}:{block.line}: shows the line '{line}'; the output is:\n{output}")


def make_samples(program, folder):
    """Makes the files of documents that are not self-contained."""
    for arguments in ("photos --kind texture --count 4 --size 192x256 --channels 3",
                      "scans --kind phantom --count 6 --size 128 --format jpeg"):
        subprocess.run([program, "synth", "-o", *arguments.split()], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    shutil.copy(folder / "scans/phantom_128x128_0001.jpg", folder / "portrait.jpg")
    shutil.copy(folder / "photos/texture_192x256_0001.png", folder / "photo.png")


def check(documents, program):
    """Runs two documents at a time. Returns errors, commands not run, entries of NOT_RUN without a command, and the number of commands run."""
    errors, not_run, ran = [], [], 0
    with tempfile.TemporaryDirectory(prefix="eckart-docs-") as folder:
        samples = Path(folder) / "samples"
        samples.mkdir()
        make_samples(program, samples)
        current = [document for document in documents if not document.name.startswith("docs/history/")]
        with ThreadPoolExecutor(max_workers=2) as pool:
            for runner in pool.map(lambda document: Runner(document, program, samples).run(), current):
                errors += runner.errors
                not_run += runner.not_run
                ran += runner.ran
    unused = [pattern for pattern, _ in NOT_RUN if not any(re.match(pattern, command) for _, command, _ in not_run)]
    return errors, not_run, unused, ran

#!/usr/bin/env python3
"""Checks deploy/container/Containerfile without building it: stages, copied files, tools with their options, CUDA libraries,
and the build commands of deploy/README.md.

  check_container.py SOURCE_FOLDER
Exit codes: 0 all checks passed; 1 a check failed.
"""
import re
import subprocess
import sys
from pathlib import Path

CONTAINERFILE = "deploy/container/Containerfile"
TOOLKIT = Path("/usr/local/cuda/targets/x86_64-linux/lib")


def instructions(text):
    """Yields (instruction, arguments), with continued lines joined."""
    text = re.sub(r"^#.*\n", "", text, flags=re.M).replace("\\\n", " ")
    for line in filter(str.strip, text.splitlines()):
        name, _, arguments = line.partition(" ")
        yield name, arguments.split()


def check_stages(parsed):
    """Each FROM and --from= names an argument or an earlier stage."""
    arguments, stages = set(), set()
    for name, words in parsed:
        if name == "ARG":
            arguments.add(words[0].split("=")[0])
        if name == "FROM":
            base = words[0]
            if (base.removeprefix("${").removesuffix("}") if base.startswith("$") else base) not in arguments | stages:
                yield f"FROM {base}: no such stage or argument"
            stages.add(words[2])
        for stage in re.findall(r"from=([\w-]+)", " ".join(words)):
            if stage not in stages:
                yield f"{name}: no stage {stage} before it"


def check_copies(source, parsed):
    ignored = (source / ".dockerignore").read_text().split()
    for folder in (".git", "build"):
        if folder not in ignored:
            yield f".dockerignore does not list {folder}"
    for name, words in parsed:
        if name == "COPY" and not words[0].startswith("--from="):
            for copied in words[:-1]:
                if not (source / copied).exists():
                    yield f"COPY {copied}: no such file"
                if copied.split("/")[0] in ignored:
                    yield f"COPY {copied}: is in .dockerignore"


def check_tools(source, parsed):
    """Each tool exists, and its help describes each option. The packages that tools/make-packages needs are in a layer of their own."""
    install = re.search(r"^tools/install-packages .*?(?= #|$)", (source / "tools/make-packages").read_text(), re.M)[0]
    if ("RUN", install.split()) not in parsed:
        yield f"no RUN {install}, as in tools/make-packages"
    for name, words in parsed:
        if name == "RUN" and words[0].startswith("tools/"):
            command = words[:words.index("&&")] if "&&" in words else words
            tool = source / command[0]
            if not tool.exists():
                yield f"RUN {command[0]}: no such tool"
                continue
            text = subprocess.run([tool, "--help"], capture_output=True, text=True, check=True).stdout
            for option in command[1:]:
                if option.startswith("-") and not re.search(rf"^ +{option} ", text, re.M):
                    yield f"RUN {command[0]}: unknown option {option}"


def check_cuda(source, text):
    """One CUDA version everywhere; the libraries that the backend links, and, if the toolkit is here, all that these need."""
    image = re.search(r"^ARG CUDA=\S+/cuda:((\d+)\.\d+)\.\d+-devel-", text, re.M)
    if not image:
        yield "ARG CUDA is not an image of NVIDIA with the compiler"
        return
    for version in re.findall(r"/usr/local/cuda-([\d.]+)", text):
        if version.rstrip(".") != image[1]:
            yield f"the image has CUDA {image[1]}, the file copies {version}"
    copied = set(re.findall(r"\blib\w+\.so\.\d+", text))
    names = {library.split(".")[0] for library in copied}
    for linked in re.findall(r"CUDA::(\w+)", (source / "src/layers.cmake").read_text()):
        if not linked.endswith("_static") and f"lib{linked}" not in names:
            yield f"lib{linked} is not copied"
    for library in sorted(copied):
        if not (TOOLKIT / library).exists():  # no toolkit, or another version
            continue
        dynamic = subprocess.run(["readelf", "-d", TOOLKIT / library], capture_output=True, text=True, check=True).stdout
        for needed in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
            if (TOOLKIT / needed).exists() and needed not in copied:
                yield f"{library} needs {needed}, which is not copied"


def check_readme(source, parsed):
    stages = {words[2] for name, words in parsed if name == "FROM"}
    targets = re.findall(r"^docker build --target (\S+) .*-f (\S+)", (source / "deploy/README.md").read_text(), re.M)
    if {target for target, _ in targets} != {"cpu", "cuda"}:
        yield "deploy/README.md does not build both targets"
    for target, file in targets:
        if target not in stages:
            yield f"deploy/README.md: no target {target}"
        if not (source / file).exists():
            yield f"deploy/README.md: no file {file}"


def main():
    source = Path(sys.argv[1])
    text = (source / CONTAINERFILE).read_text()
    parsed = list(instructions(text))
    failures = [*check_stages(parsed), *check_copies(source, parsed), *check_tools(source, parsed), *check_cuda(source, text),
                *check_readme(source, parsed)]
    for failure in failures:
        print(f"{CONTAINERFILE}: {failure}", file=sys.stderr)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())

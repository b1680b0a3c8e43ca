"""The prolog of deploy/slurm with a real Slurm whose GPUs are files. A program in place of eckart finds that the GPUs of the first node compute wrong
results: Slurm must drain that node, and the other one must do all."""
import os
import shlex
import time

from cluster.slurm import Slurm

GPUS = 2  # of a node
BROKEN, OTHER = "n1", "n2"
DEADLINE_S = 120
PROLOG = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "deploy", "slurm", "prolog")
CHECK = """#!/bin/bash
echo "$SLURMD_NODENAME: GPUs $CUDA_VISIBLE_DEVICES: $*" >>"{calls}"
[[ $SLURMD_NODENAME != {broken} ]] || exit 70
"""


def install_prolog(folder):
    """As docs/how-to/slurm.md says: the path of the program is set in the file. Returns the prolog and the file with the calls of the program."""
    program, prolog, calls = (os.path.join(folder, name) for name in ("eckart", "prolog-eckart", "calls"))
    with open(PROLOG, encoding="utf-8") as file:
        text = file.read().replace("${ECKART:-/usr/bin/eckart}", shlex.quote(program))
    for path, content in ((program, CHECK.format(calls=calls, broken=BROKEN)), (prolog, text)):
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
        os.chmod(path, 0o755)
    return prolog, calls


def run_prolog(batch, say, submission):
    folder, out = os.path.join(batch.root, "prolog"), os.path.join(batch.root, "prolog-out")
    os.mkdir(folder)
    prolog, calls = install_prolog(folder)
    with Slurm(os.path.join(folder, "slurm"), 2, batch.random, prolog=prolog, gpus=GPUS) as slurm:
        job, deadline = submission(batch, slurm, out, ("--gpus-per-task", str(GPUS))), time.monotonic() + DEADLINE_S
        while job.step() and time.monotonic() < deadline:
            time.sleep(0.1)
        if slurm.released:
            batch.problem(f"prolog: Slurm held tasks: {slurm.released}")
        if job.process.poll() is None:
            job.process.kill()
            batch.problem(f"prolog: the job has not ended after {DEADLINE_S} s: {slurm.ask('squeue')}{slurm.ask('sinfo', '-N', '-l')}")
        states = dict(line.rstrip("*~#").split() for line in slurm.ask("sinfo", "--noheader", "-N", "--format=%N %T").splitlines())
        if states.get(BROKEN) != "drained" or states.get(OTHER) not in ("idle", "mixed", "allocated", "completing"):
            batch.problem(f"prolog: states of the nodes: {states}")
    with open(calls, encoding="utf-8") as file:
        lines = file.read().splitlines()
    wanted = f"GPUs 0,1: doctor --quick --backend cuda --gpus {GPUS}"
    if set(lines) != {f"{node}: {wanted}" for node in (BROKEN, OTHER)}:
        batch.problem(f"prolog: calls: {sorted(set(lines))}")
    say(f"prolog: {BROKEN} drained, {sum(line.startswith(OTHER) for line in lines)} tasks on {OTHER}")

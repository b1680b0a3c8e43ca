"""Runs commands that together print every kind of JSON object, and every key of it.

`gpu_folder` has the program with a simulated GPU (tests/cli/CMakeLists.txt)."""
import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from cluster.rabbitmq import RabbitMq, missing_rabbitmq  # noqa: E402

NEED_RABBITMQ = {"enqueue", "queue", "worker", "dead_letter"}  # kinds and objects


class Commands:
    """Runs commands in a folder. Unexpected exit codes are added to the errors."""

    def __init__(self, program, folder, errors):
        self.program, self.folder, self._errors = program, folder, errors

    def lines(self, *arguments, code=0, programs=""):
        """Returns stdout, which must be JSON lines. `programs` is a folder that comes first in PATH."""
        run = subprocess.run([self.program, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, text=True, capture_output=True,
                             env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}" if programs else os.environ["PATH"]})
        if run.returncode != code:
            self._errors.append(f"eckart {' '.join(arguments)}: exit code {run.returncode}, not {code}: {run.stderr}")
        return [json.loads(line) for line in run.stdout.splitlines()]

    def start(self, *arguments, program=None, **options):
        return subprocess.Popen([program or self.program, *arguments], cwd=self.folder, text=True, stdin=subprocess.DEVNULL, **options)

    def fail(self, what):
        self._errors.append(what)


def write_slurm(folder):
    """Programs in place of those of Slurm. Returns their folder."""
    folder.mkdir()
    for name, output in (("scontrol", "MaxArraySize = 1001"), ("squeue", ""), ("sbatch", "17")):
        (folder / name).write_text(f"#!/bin/sh\necho '{output}'\n")
        (folder / name).chmod(0o700)
    return folder


def run_samples(commands):
    """A folder of images with an unreadable one and a name that is not UTF-8; then the commands that read its ledger."""
    folder = commands.folder
    subprocess.run([commands.program, "synth", "-o", "in", "--kind", "texture", "--count", "3", "--size", "64"], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL)
    (folder / "in/bad.png").write_text("text")
    (folder / "in/a.dng").write_text("not read")
    os.rename(folder / "in/texture_64x64_0003.png", os.fsencode(folder / "in") + b"/\xff.png")
    (folder / "list").write_text("in\nmissing.png\n")
    yield from commands.lines("measure", "in", "-k", "2,psnr:30", "--json", "-q", code=3)
    yield from commands.lines("inspect", "in/texture_64x64_0001.png", "-k", "2,64", "--json")
    yield from commands.lines("run", "--files-from", "list", "-o", "out", "--dry-run", "--json", code=3)
    # At rank 64 an output equals its input: its PSNR is null.
    run = ("run", "in", "-o", "out", "-k", "2,64", "--json", "--report", "-", "--set", "ledger.identity=content",
           "--set", "telemetry.throughput_log=log")
    yield from commands.lines(*run, code=3)
    yield from commands.lines(*run, code=3)  # its outputs are skipped
    yield from commands.lines("run", "in", "--format", "none", "--report", "-", code=3)
    yield from commands.lines("run", "in", "-o", "with-residual", "--residual", "--report", "-", code=3)
    yield from commands.lines("run", "in", "-o", "factors", "--factors", "--format", "none", "--report", "-", code=3)
    yield from map(json.loads, (folder / "log").read_text().splitlines())
    exported = commands.lines("ledger", "export", "out")
    yield from exported
    (folder / "exported").write_text("".join(json.dumps(line) + "\n" for line in exported))
    (folder / "out/.eckart/ledger.db").unlink()
    yield from commands.lines("ledger", "import", "out", "exported", "--json")
    (folder / "in/texture_64x64_0001.png").unlink()
    (folder / "out/texture_64x64_0001.k2.png").write_bytes(b"modified")
    yield from commands.lines("shard", "in", "--count", "1", "-o", "manifest", "--json")
    yield from commands.lines("run", "--shard", "manifest:1/1", "-o", "out", "--json", "-k", "2,64", code=3)
    yield from commands.lines("slurm", "in", "-o", "slurm", "--json", programs=write_slurm(folder / "programs"))
    yield from commands.lines("pack", "in", "-o", "in.tar", "--json")
    yield from commands.lines("unpack", "in.tar", "-o", "unpacked", "--json")
    yield from commands.lines("status", "out", "--json")
    yield from commands.lines("ledger", "merge", "out", "--json")
    yield from commands.lines("prune", "out", "--json")
    yield from commands.lines("prune", "out", "--json", "--yes")
    yield from commands.lines("doctor", "--json")
    report, = commands.lines("bench", "bandwidth", "--quick", "--json")
    check_measurements(report["tables"][0]["rows"], commands)
    yield report
    yield from commands.lines("bench", "pipeline", "in/texture_64x64_0002.png", "--seconds", "0.1", "--repeats", "1", "--set", "backend=cpu", "--json")


def check_measurements(rows, commands):
    for row in rows:
        time = row["compute_us"] or {"samples": 0}
        if time["samples"] < 10 or not time["low"] <= time["median"] <= time["high"] or row["relative_error"] >= 1e-5:
            commands.fail(f"not measured well: {row}")
    if not rows:
        commands.fail("bench bandwidth measured nothing")


def status_page(address):
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(address)
        client.sendall(b"GET /status.json?since=0 HTTP/1.0\r\n\r\n")
        return json.loads(client.makefile("rb").read().partition(b"\r\n\r\n")[2])


def is_complete(page):
    return page["total"]["done"] == page["total"]["failed"] == 1 and page["history"]["gpus"]


def watch_samples(commands, gpu_folder):
    """A service on a GPU with a done image and a quarantined one, and its status page."""
    folder, address = commands.folder, str(commands.folder / "socket")
    (folder / "arrived").mkdir()
    (folder / "arrived/bad.png").write_text("text")
    os.link(folder / "in/texture_64x64_0002.png", folder / "arrived/good.png")
    (folder / "watch.yaml").write_text(
        f"telemetry: {{listen: {address}}}\n"
        f"watches: [{{input: {folder}/arrived, output: {folder}/watched, settle_ms: 0, retry_timeout_s: 0}}]\n")
    with commands.start("watch", "--config", "watch.yaml", program=gpu_folder / "eckart", stderr=subprocess.PIPE,
                        env={**os.environ, "LD_LIBRARY_PATH": str(gpu_folder)}) as watch:
        ready = any("ready:" in line for line in watch.stderr)
        with commands.start("top", address, "--json", stdout=subprocess.PIPE) as top:
            page = {}
            for line in top.stdout if ready else []:  # one a second
                yield json.loads(line)
                page = status_page(address)
                if is_complete(page):
                    break
            top.terminate()
        yield page
        watch.terminate()
        _, log = watch.communicate()
        if watch.returncode != 0:
            commands.fail(f"eckart watch ended with {watch.returncode}: {log}")
    for record in folder.glob("watched/.eckart/quarantine/*.json"):
        yield json.loads(record.read_text())
    yield from commands.lines("status", "--config", "watch.yaml", "--json")
    yield from commands.lines("requeue", "watched", "--json")


def broker_samples(commands):
    """A queue with a dead letter, because the worker has other settings."""
    if missing_rabbitmq():
        return
    with RabbitMq(str(commands.folder / "rabbitmq")) as broker:
        yield from commands.lines("enqueue", "in", "--amqp", broker.url, "--json")
        yield from commands.lines("enqueue", "in", "--amqp", broker.url, "--scan", "-o", "out", "--json", "-k", "2,64")
        with commands.start("worker", "--amqp", broker.url, "-o", "queued", "--state", "state", "-k", "5", "--set", "backend=cpu",
                            stderr=subprocess.DEVNULL) as worker:
            for _ in range(100):
                queue, = commands.lines("status", "--amqp", broker.url, "--json")
                if queue["dead_letters"] and queue["workers"]:
                    break
            yield queue
            worker.terminate()


def log_of_run(cores):
    """Returns the log of a run of eight seconds that is limited by its cores, with a little contention between them."""
    common = {"schema": "eckart.throughput/1", "run": f"run-{cores}"}
    rate = int(cores / (0.001 * (1 + 0.04 * (cores - 1))))
    yield {"kind": "run", **common, "time": "2026-11-22T10:00:00Z", "command": "run", "host": "here", "cpu": "a CPU", "cores": cores,
           "backend": "cuda", "device": "a GPU", "gpus": [{"name": "a GPU"}], "startup_s": 0.3}
    for second in range(1, 9):
        yield {"kind": "interval", **common, "elapsed_s": second, "interval_s": 1, "done": rate, "pixels": rate * 65536,
               "input_bytes": rate * 12000, "output_bytes": rate * 6000, "unfinished": 100,
               "end_to_end_s": {"mean": 100 / rate, "count": rate}, "process": {"cpu_s": cores},
               "stages": [{"name": "write", "workers": 2, "busy_s": 1, "cpu_s": 0.5}], "gpus": [{"busy": 0.1, "energy_j": 20}]}


def plan_samples(commands):
    for cores in (2, 4, 8):
        (commands.folder / f"{cores}.log").write_text("".join(json.dumps(line) + "\n" for line in log_of_run(cores)))
    yield from commands.lines("plan", "log", "--json")
    for question in (["--images", "1700000"], ["--target", "50M/month"]):
        yield from commands.lines("plan", "2.log", "4.log", "8.log", "--fit-cores", "2,4", "--json", *question,
                                  "--price", "core=0.04/h,gpu=3.50/h,kWh=0.30")
    yield from commands.lines("plan", "--reference", "h200", "--target", "50M/month", "--json")
    yield from commands.lines("simulate", "8.log", "--nodes", "1,100", "--images", "10M", "--storage-files", "50000", "--json")


def samples(program, gpu_folder, errors):
    """Yields JSON objects."""
    with tempfile.TemporaryDirectory(prefix="eckart-json-") as folder:
        commands = Commands(program, Path(folder), errors)
        yield from run_samples(commands)
        yield from watch_samples(commands, gpu_folder)
        yield from broker_samples(commands)
        yield from plan_samples(commands)

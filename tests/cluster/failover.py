"""A worker of a queue is killed, and a second later the server of RabbitMQ that the other worker is connected to: the moment in which RabbitMQ
kept messages for a consumer that was gone. Each image must have an output soon after, while the server is still down."""
import json
import os
import re
import shutil
import signal
import subprocess
import time

from cluster.rabbitmq import RabbitMq

SERVERS = 3  # fewer have no majority without one
IMAGES = 400
SLOW = ("--rank", "50", "--solver", "gesvd", "--size", "400x400", "--backend", "cpu")  # about 40 images a second and lane
ONE_LANE = ("--set", "cpu.lanes=1")  # so that many cores do not finish before the server is killed
BEGUN = 80  # outputs when the worker is killed
AFTER_S = 1
DEADLINE_S = 90
END_S = 30


def image_name(index):
    return f"{index:03}.png"


def make_images(batch, folder):
    os.mkdir(folder)
    seeds = seed_images(batch)
    for index in range(IMAGES):
        shutil.copyfile(os.path.join(batch.root, "seed", seeds[index % len(seeds)]), os.path.join(folder, image_name(index)))


def seed_images(batch):
    return sorted(os.listdir(os.path.join(batch.root, "seed")))


def check_outputs(batch, out, whole):
    """Compares the pixels with those of a run without faults."""
    seeds, wrong = seed_images(batch), []
    for index, name in enumerate(sorted(name for name in os.listdir(out) if not name.startswith(".eckart"))):
        with open(os.path.join(out, name), "rb") as found, open(os.path.join(whole, seeds[index % len(seeds)]), "rb") as wanted:
            if name != image_name(index) or found.read() != wanted.read():
                wrong.append(name)
    if wrong:
        batch.problem(f"failover: {len(wrong)} outputs are not expected, torn, or have other pixels: {wrong[:5]}")


def count(folder):
    try:
        return sum(name.endswith(".png") for name in os.listdir(folder))
    except FileNotFoundError:
        return 0


def wait_for(images, folder, deadline_s, step=lambda: None):
    deadline = time.monotonic() + deadline_s
    while count(folder) < images and time.monotonic() < deadline:
        step()
        time.sleep(0.1)
    return count(folder)


class Worker:
    def __init__(self, batch, amqp, out, name):
        self.log = f"{out}.{name}.log"
        command = [batch.program, "worker", *amqp, *SLOW, *ONE_LANE, "-o", out, "--state", f"{out}.{name}.state"]
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)

    def port(self):
        """Of the server that it is connected to."""
        with open(self.log, encoding="utf-8") as log:
            return int(re.findall(r"connected to amqp://127\.0\.0\.1:(\d+)", log.read())[-1])

    def end(self, how):
        """Returns the exit code."""
        self.process.send_signal(how)
        return self.process.wait(END_S)


def run_round(batch, broker, number, whole):
    """Returns how long the outputs took after the server was killed, in seconds; None if a check failed."""
    images, out = os.path.join(batch.root, "failover-in"), os.path.join(batch.root, f"failover-{number}")
    amqp = ("--amqp", broker.url, "--queue", f"failover-{number}")
    batch.eckart("enqueue", images, *amqp, *SLOW)
    workers, problems = [Worker(batch, amqp, out, name) for name in ("first", "second")], len(batch.problems)
    try:
        seconds = kill_worker_and_server(batch, broker, amqp, out, *workers)
    finally:
        for worker in workers:
            worker.process.kill()
            worker.process.wait()
    if len(batch.problems) > problems:
        return None
    broker.wait_until_whole()
    check_outputs(batch, out, whole)
    dead = json.loads(batch.eckart("status", *amqp, "--json"))["dead_letter_list"]
    if dead:
        batch.problem(f"failover: dead letters: {dead}")
    return None if len(batch.problems) > problems else seconds


def kill_worker_and_server(batch, broker, amqp, out, first, second):
    """As run_round(); ends the second worker."""
    if wait_for(BEGUN, out, DEADLINE_S) < BEGUN:
        batch.problem("failover: the workers do not begin")
        return None
    workers = json.loads(batch.eckart("status", *amqp, "--json"))["workers"]
    if len(workers) != 2 or not all(worker["in_flight"] for worker in workers):
        batch.problem(f"failover: a worker has no messages, so the test shows nothing: {workers}")
    first.end(signal.SIGKILL)
    time.sleep(AFTER_S)
    if count(out) == IMAGES:
        batch.problem("failover: all outputs were there before the server was killed, so the test shows nothing")
    server = next(server for server in broker.servers if server.port == second.port())
    broker.break_server(server, 2 * DEADLINE_S)
    killed = time.monotonic()
    found = wait_for(IMAGES, out, DEADLINE_S, broker.step)
    seconds = time.monotonic() - killed
    if (code := second.end(signal.SIGTERM)) != 0:
        batch.problem(f"failover: worker: exit code {code} after SIGTERM")
    if found < IMAGES:
        batch.problem(f"failover: {IMAGES - found} images have no output {DEADLINE_S} s after a server was killed")
    return seconds


def run_failover(batch, say):
    make_images(batch, os.path.join(batch.root, "failover-in"))
    whole = os.path.join(batch.root, "failover-whole")
    batch.eckart("run", os.path.join(batch.root, "seed"), "-o", whole, *SLOW, "-q")
    with RabbitMq(os.path.join(batch.root, "failover-rabbitmq"), SERVERS) as broker:
        for number in range(1, batch.rounds + 1):
            seconds = run_round(batch, broker, number, whole)
            if seconds is None:
                return
            say(f"failover: round {number}: all outputs {seconds:.0f} s after the server was killed")

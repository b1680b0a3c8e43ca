"""Processes of `eckart worker` for a queue of a RabbitMQ that is started for the test, and faults of them, of it, and of their nodes."""
import glob
import json
import os
import signal
import subprocess
import time

from cluster.nodes import Node

DELIVERY_LIMIT = 10  # a message is in flight in more than one kill
HEARTBEAT_S = 1
STOP_S = 4  # longer than the broker waits for a heartbeat
DRAIN_S = 60
ENDINGS = (0, -signal.SIGKILL, -signal.SIGTERM)  # the last: before the program handles signals
FAULTS = {"kill": 8, "stop": 3, "term": 2, "broker": 2}  # with their weights
NODE_FAULTS = {"cut": 3, "full": 2}  # of the network and of the disk of a node
DISK_FULL = 74  # exit code of a worker that starts without space for its ledger
POISON = "stuck.png"  # tests/cli/fault_injection.cpp: who reads it is killed


def fault_injection(program):
    """The library that makes an image poison; "" if it is not built."""
    found = glob.glob(os.path.join(os.path.dirname(program), "..", "tests", "cli", "*eckart_fault_injection.so"))
    return os.path.realpath(found[0]) if found else ""


class Fleet:
    """Workers that were killed are started again by step()."""

    def __init__(self, batch, broker, out, options, has_nodes):
        self.batch, self.broker, self.out = batch, broker, out
        self.amqp = ["--delivery-limit", str(DELIVERY_LIMIT), "--heartbeat", str(HEARTBEAT_S), *options]
        self.nodes = [Node(number + 1, f"{out}.node{number + 1}") for number in range(batch.workers)] if has_nodes else []
        self.broken, self.started = {}, 0  # node → when it is repaired, and how
        self.running, self.stopped, self.dead_letters = [], {}, []
        self.ending = set()  # processes after SIGTERM; a second one ends them at once
        self.next_look, self.quiet_looks = 0.0, 0
        self.log_name = out + ".log"
        self.log = open(self.log_name, "ab")
        self.environment = dict(os.environ)
        if library := fault_injection(batch.program):
            self.environment |= {"LD_PRELOAD": library, "ECKART_FAULT": "input:0:1:1000000"}
        self.has_poison = bool(library)

    def enqueue(self, *inputs, codes=(0,)):
        self.batch.eckart("enqueue", *inputs, "--amqp", self.broker.url, *self.amqp, codes=codes)

    def status(self):
        """What `eckart status --amqp` tells; {} if the broker does not answer."""
        run = subprocess.run([self.batch.program, "status", "--amqp", self.broker.url, "--json", "--failures", "1000"], text=True, capture_output=True,
                             check=False)
        return json.loads(run.stdout) if run.returncode == 0 else {}

    def start(self):
        command = [self.batch.program, "worker", *self.amqp, "-o", self.out, "-v"]
        if self.nodes:
            node = self.nodes[self.started % len(self.nodes)]
            command = node.command(*command, "--amqp", self.broker.url_at(node.host), "--state", node.disk)
        else:
            command += ["--amqp", self.broker.url, "--state", self.out + ".state"]
        self.started += 1
        self.running.append(subprocess.Popen(command, env=self.environment, stdout=self.log, stderr=self.log))

    def step(self):
        """Starts workers and lets stopped ones go on. Returns whether something is left to do."""
        now = time.monotonic()
        self.broker.step()
        for process in [process for process, until in self.stopped.items() if until <= now]:
            process.send_signal(signal.SIGCONT)
            del self.stopped[process]
        for node in [node for node, (until, _) in self.broken.items() if until <= now]:
            self._repair(node)
        for process in [process for process in self.running if process.poll() is not None]:
            self.running.remove(process)
            if process.returncode not in ENDINGS and not (self.nodes and process.returncode == DISK_FULL):
                self.batch.problem(f"worker: exit code {process.returncode}")
        while len(self.running) - len(self.stopped) < self.batch.workers:
            self.start()
        if now < self.next_look:
            return True
        self.next_look = now + 0.5
        # A worker that is stopped does not tell what it has, and one that is killed while the others are asked does not either.
        self.quiet_looks = 0 if self.stopped or self.broken or self._has_work(self.status()) else self.quiet_looks + 1
        return self.quiet_looks < 2

    def _has_work(self, status):
        return not status or bool(status["waiting"] or status["in_flight"]) or self._lacks_dead_letters(status)

    def _lacks_dead_letters(self, status):
        self.dead_letters = status["dead_letter_list"]
        return self.has_poison and not self.dead_letters

    def fault(self):
        """Returns what it did; nothing if no worker can be chosen."""
        working = [process for process in self.running if process not in self.stopped and process not in self.ending and process.poll() is None]
        faults = FAULTS | (NODE_FAULTS if self.nodes else {})
        kind, = self.batch.random.choices(list(faults), weights=faults.values())
        if kind in NODE_FAULTS:
            return self._break_node(kind)
        if kind == "broker":
            if len(self.broker.servers) > 1 and working:  # RabbitMQ may keep messages for a worker if it ends just before a server does
                self.batch.random.choice(working).kill()
            return self.broker.break_one(self.batch.random, STOP_S)
        if not working:
            return ""
        process = self.batch.random.choice(working)
        if kind == "stop":
            self.stopped[process] = time.monotonic() + STOP_S
        if kind == "term":
            self.ending.add(process)
        process.send_signal({"kill": signal.SIGKILL, "term": signal.SIGTERM, "stop": signal.SIGSTOP}[kind])
        return f"{kind} worker {process.pid}"

    def _break_node(self, kind):
        node = self.batch.random.choice(self.nodes)
        if node in self.broken:
            return ""
        if kind == "cut":
            node.cut()
        else:
            node.fill_disk()
        self.broken[node] = (time.monotonic() + STOP_S, kind)
        return f"{kind} node {self.nodes.index(node) + 1}"

    def _repair(self, node):
        _, kind = self.broken.pop(node)
        if kind == "cut":
            node.connect()
        else:
            node.free_disk()

    def end_nodes(self):
        for node in self.nodes:
            node.end()

    def end(self):
        """Lets all workers drain. One more for each ledger folder publishes what those that were killed have recorded."""
        for node in list(self.broken):
            self._repair(node)
        self._drain()
        for _ in self.nodes or [None]:
            self.start()
        while len(self.status().get("workers", [])) < len(self.running) and all(process.poll() is None for process in self.running):
            time.sleep(0.1)
        self._drain()

    def _drain(self):
        for process in self.running:
            process.send_signal(signal.SIGCONT)
            if process not in self.ending:
                process.send_signal(signal.SIGTERM)
        for process in self.running:
            try:
                if process.wait(DRAIN_S) not in ENDINGS:
                    self.batch.problem(f"worker: exit code {process.returncode} after SIGTERM")
            except subprocess.TimeoutExpired:
                self.batch.problem("worker: does not end after SIGTERM")
                process.kill()
                process.wait()
        self.running, self.stopped = [], {}

    def redeliveries(self):
        with open(self.log_name, encoding="utf-8", errors="replace") as log:
            return sum("was delivered again" in line for line in log)

    def check_dead_letters(self):
        """Only the message with the poison, with a reason."""
        poison = [letter for letter in self.dead_letters if POISON in map(os.path.basename, letter["images"])]
        if len(poison) != self.has_poison or len(self.dead_letters) != len(poison):
            self.batch.problem(f"dead letters: {self.dead_letters}")
        if not all(letter["reason"].startswith("delivered too often") for letter in self.dead_letters):
            self.batch.problem(f"reasons of dead letters: {self.dead_letters}")

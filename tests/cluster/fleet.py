"""Processes of `eckart worker` for a queue of a RabbitMQ that is started for the test, and faults of both."""
import glob
import json
import os
import signal
import subprocess
import time

DELIVERY_LIMIT = 10  # a message is in flight in more than one kill
HEARTBEAT_S = 1
STOP_S = 4  # longer than the broker waits for a heartbeat
DRAIN_S = 60
ENDINGS = (0, -signal.SIGKILL, -signal.SIGTERM)  # the last: before the program handles signals
FAULTS = {"kill": 8, "stop": 3, "term": 2, "broker": 1}  # with their weights
POISON = "stuck.png"  # tests/cli/fault_injection.cpp: who reads it is killed


def fault_injection(program):
    """The library that makes an image poison; "" if it is not built."""
    found = glob.glob(os.path.join(os.path.dirname(program), "..", "tests", "cli", "*eckart_fault_injection.so"))
    return os.path.realpath(found[0]) if found else ""


class Fleet:
    """Workers that were killed are started again by step()."""

    def __init__(self, batch, broker, out, options):
        self.batch, self.broker, self.out = batch, broker, out
        self.amqp = ["--amqp", broker.url, "--delivery-limit", str(DELIVERY_LIMIT), "--heartbeat", str(HEARTBEAT_S), *options]
        self.running, self.stopped, self.dead_letters = [], {}, []
        self.next_look, self.quiet_looks = 0.0, 0
        self.log_name = out + ".log"
        self.log = open(self.log_name, "ab")
        self.environment = dict(os.environ)
        if library := fault_injection(batch.program):
            self.environment |= {"LD_PRELOAD": library, "ECKART_FAULT": "input:0:1:1000000"}
        self.has_poison = bool(library)

    def enqueue(self, *inputs, codes=(0,)):
        self.batch.eckart("enqueue", *inputs, *self.amqp, codes=codes)

    def status(self):
        """What `eckart status --amqp` tells; {} if the broker does not answer."""
        run = subprocess.run([self.batch.program, "status", "--amqp", self.broker.url, "--json", "--failures", "1000"], text=True, capture_output=True,
                             check=False)
        return json.loads(run.stdout) if run.returncode == 0 else {}

    def start(self):
        command = [self.batch.program, "worker", *self.amqp, "-o", self.out, "--state", self.out + ".state"]
        self.running.append(subprocess.Popen(command, env=self.environment, stdout=self.log, stderr=self.log))

    def step(self):
        """Starts workers and lets stopped ones go on. Returns whether something is left to do."""
        now = time.monotonic()
        for process in [process for process, until in self.stopped.items() if until <= now]:
            process.send_signal(signal.SIGCONT)
            del self.stopped[process]
        for process in [process for process in self.running if process.poll() is not None]:
            self.running.remove(process)
            if process.returncode not in ENDINGS:
                self.batch.problem(f"worker: exit code {process.returncode}")
        while len(self.running) - len(self.stopped) < self.batch.workers:
            self.start()
        if now < self.next_look:
            return True
        self.next_look = now + 0.5
        # A worker that is stopped does not tell what it has, and one that is killed while the others are asked does not either.
        self.quiet_looks = 0 if self.stopped or self._has_work(self.status()) else self.quiet_looks + 1
        return self.quiet_looks < 2

    def _has_work(self, status):
        return not status or bool(status["waiting"] or status["in_flight"]) or self._lacks_dead_letters(status)

    def _lacks_dead_letters(self, status):
        self.dead_letters = status["dead_letter_list"]
        return self.has_poison and not self.dead_letters

    def fault(self):
        """Returns what it did; nothing if no worker can be chosen."""
        working = [process for process in self.running if process not in self.stopped and process.poll() is None]
        kind, = self.batch.random.choices(list(FAULTS), weights=FAULTS.values())
        if kind == "broker":
            self.broker.kill()
            self.broker.start()
            return "broker killed and started"
        if not working:
            return ""
        process = self.batch.random.choice(working)
        if kind == "stop":
            self.stopped[process] = time.monotonic() + STOP_S
        process.send_signal({"kill": signal.SIGKILL, "term": signal.SIGTERM, "stop": signal.SIGSTOP}[kind])
        return f"{kind} worker {process.pid}"

    def end(self):
        """Lets all workers drain. One more publishes what those that were killed have recorded."""
        self._drain()
        self.start()
        while not self.status().get("workers") and self.running[0].poll() is None:
            time.sleep(0.1)
        self._drain()

    def _drain(self):
        for process in self.running:
            process.send_signal(signal.SIGCONT)
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

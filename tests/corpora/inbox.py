"""The users, the watched folders and the service of tools/symlink-attack-test."""
import os
import random
import shutil
import signal
import socket
import subprocess
import threading
import time

from . import images
from .attacks import SETTLE_MS

STOP_SECONDS = 20
RESPONSE_SECONDS = 5


class Users:
    """User and group IDs of the service, the attacker and the victim. As root they differ; they need no entry in /etc/passwd."""

    def __init__(self):
        self.are_separate = os.geteuid() == 0
        own = (os.geteuid(), os.getegid())
        self.service, self.attacker, self.victim = [(64101 + i, 64101 + i) if self.are_separate else own for i in range(3)]
        self.shared_gid = 64110 if self.are_separate else own[1]  # group of the service and the attacker

    def as_service(self):
        if not self.are_separate:
            return {}
        return {"user": self.service[0], "group": self.service[1], "extra_groups": [self.shared_gid], "umask": 0o077}

    def become_attacker(self):
        os.umask(0o007)
        if self.are_separate:
            os.setgroups([self.shared_gid])
            os.setgid(self.attacker[1])
            os.setuid(self.attacker[0])

    def make_folder(self, path, user, gid=None, mode=0o700):
        os.makedirs(path, exist_ok=True)
        os.chown(path, user[0], user[1] if gid is None else gid)
        os.chmod(path, mode)


class Watch:
    def __init__(self, root, name, after, users, other_disk=""):
        self.name, self.after = name, after
        self.input, self.stage, self.archive = (os.path.join(root, name, part) for part in ("in", "stage", "archive"))
        self.output, self.moved = (os.path.join(other_disk or root, name, part) for part in ("out", "done"))
        for folder in (root, other_disk or root):
            users.make_folder(os.path.join(folder, name), users.service, mode=0o755)
        for folder in (self.input, self.stage, self.archive):
            users.make_folder(folder, users.attacker, users.shared_gid, 0o2770)
        for folder in (self.output, self.moved):
            users.make_folder(folder, users.service)

    def yaml(self):
        move = f", move_to: {self.moved}" if self.after == "move" else ""
        return (f"  - {{input: {self.input}, output: {self.output}, after: {self.after}{move}, settle_ms: {SETTLE_MS}, "
                "retry_timeout_s: 0, rescan_s: 2, quarantine: {max_mb: 64}}\n")

    def good(self, number, seed):
        """Returns (path, samples) of the good file that arrives during a try."""
        rng = random.Random(f"{seed} good {number}")
        return f"good/{number % 7}/g{number:06}.png", [[rng.randrange(256) for _ in range(16)] for _ in range(8)]

    def put(self, relative_path, samples):
        """Writes a good file under a hidden name and renames it, because retry_timeout_s is 0."""
        folder, name = os.path.split(os.path.join(self.input, relative_path))
        os.makedirs(folder, exist_ok=True)
        hidden = os.path.join(folder, f".{name}.part")
        with open(hidden, "wb") as stream:
            stream.write(images.join(images.png(samples)))
        os.rename(hidden, os.path.join(folder, name))

    def problem_of(self, relative_path, samples):
        """Returns what is wrong with a good file; "" if nothing is."""
        output, path = os.path.join(self.output, relative_path), os.path.join(self.input, relative_path)
        try:
            with open(output, "rb") as stream:
                if images.read_png(stream.read()).samples != samples:
                    return "the output has wrong pixels"
        except FileNotFoundError:
            return "no output"
        except ValueError as error:
            return f"the output {error}"
        if os.path.lexists(path) != (self.after == "keep"):
            return f"the input {'is missing' if self.after == 'keep' else 'still exists'}"
        if self.after == "move" and not os.path.lexists(os.path.join(self.moved, relative_path)):
            return "not moved"
        return ""


class Service:
    """A process of `eckart watch`. While it should run, a thread makes health checks."""

    def __init__(self, program, root, watches, users, threads):
        self.users, self.program, self.watches = users, program, watches
        self.socket = os.path.join(root, "run", "status")
        users.make_folder(os.path.dirname(self.socket), users.service)
        config = os.path.join(root, "eckart.yaml")
        with open(config, "w") as stream:
            stream.write(f"backend: cpu\nbudget_mb: 256\nthreads: {{load: {threads}, write: 3}}\n"
                         f"telemetry: {{listen: {self.socket}}}\nwatches:\n" + "".join(w.yaml() for w in watches))
        self.command = [program, "watch", "--config", config]
        self.log = open(os.path.join(root, "log"), "ab")
        self.process, self.lock = None, threading.Lock()
        self.health_checks, self.problems, self.max_rss_mb = 0, [], 0
        self.ending = threading.Event()
        threading.Thread(target=self.check_health_repeatedly, daemon=True).start()

    def start(self):
        process = subprocess.Popen(self.command, stdout=self.log, stderr=self.log, **self.users.as_service())
        end = time.monotonic() + STOP_SECONDS
        while not self.check_health()[0] and process.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        with self.lock:
            self.process = process

    def check_health(self):
        """Returns (whether the service is healthy, its response or the error)."""
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(RESPONSE_SECONDS)
                connection.connect(self.socket)
                connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                head, _, body = connection.recv(4096).decode(errors="replace").partition("\r\n\r\n")
                return head.startswith("HTTP/1.1 200"), head.split("\r\n")[0] + " " + body.strip()
        except OSError as error:
            return False, str(error)

    def check_health_repeatedly(self):
        while not self.ending.wait(0.25):
            with self.lock:
                process = self.process
            if process is None:
                continue
            is_healthy, response = self.check_health()
            with self.lock:
                if process is self.process:  # it was not stopped or killed meanwhile
                    self.health_checks += 1
                    if not is_healthy and process.poll() is None:
                        self.problems.append(f"/healthz: {response}")
                    self.sample_memory()

    def sample_memory(self):
        try:
            with open(f"/proc/{self.process.pid}/status") as stream:
                max_rss_kib = next(int(line.split()[1]) for line in stream if line.startswith("VmHWM"))
                self.max_rss_mb = max(self.max_rss_mb, max_rss_kib * 1024 / 1e6)
        except (OSError, StopIteration):
            pass  # the process has ended

    def detach(self):
        """Ends the health checks of the process and returns it."""
        with self.lock:
            self.sample_memory()
            process, self.process = self.process, None
        if process.poll() is not None:
            self.problems.append(f"the service had ended with {process.returncode}")
        return process

    def kill(self):
        process = self.detach()
        process.kill()
        process.wait()

    def stop(self):
        """Sends SIGTERM. Returns whether the service ended in time."""
        process = self.detach()
        if process.poll() is not None:
            return True
        process.send_signal(signal.SIGTERM)
        try:
            if process.wait(STOP_SECONDS) != 0:
                self.problems.append(f"the service ended with {process.returncode} after SIGTERM")
            return True
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return False

    def end(self):
        """Ends the health checks and kills the process, if there is one."""
        self.ending.set()
        with self.lock:
            if self.process and self.process.poll() is None:
                self.process.kill()
                self.process.wait()

    def watched_inodes(self):
        """Returns the inodes that the service watches with inotify."""
        with self.lock:
            folder = f"/proc/{self.process.pid}/fdinfo" if self.process else ""
        found = set()
        for name in os.listdir(folder) if folder and os.path.isdir(folder) else ():
            try:
                with open(os.path.join(folder, name)) as stream:
                    found |= {int(line.split("ino:")[1].split()[0], 16) for line in stream if line.startswith("inotify")}
            except OSError:
                pass  # the descriptor was closed meanwhile
        return found

    def run_command(self, *arguments):
        """Runs `eckart ARGUMENTS` as the user of the service. Returns its exit code, or None if it did not end in time."""
        try:
            return subprocess.run([self.program, *arguments], stdout=subprocess.DEVNULL, stderr=self.log,
                                  timeout=STOP_SECONDS, check=False, **self.users.as_service()).returncode
        except subprocess.TimeoutExpired:
            return None


def program_for_all_users(program, root, users):
    """Returns the path of the program, or of a copy that every user may execute."""
    if not users.are_separate:
        return os.path.abspath(program)
    copy = os.path.join(root, "eckart")
    shutil.copy(program, copy)
    os.chmod(copy, 0o755)
    return copy

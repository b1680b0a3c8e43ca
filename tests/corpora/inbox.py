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
ANSWER_SECONDS = 5


class Users:
    """Whose what is. Root gives each role a user of its own, which needs no entry in any list."""

    def __init__(self):
        self.apart = os.geteuid() == 0
        own = (os.geteuid(), os.getegid())
        self.service, self.attacker, self.victim = [(64101 + i, 64101 + i) if self.apart else own for i in range(3)]
        self.shared_gid = 64110 if self.apart else own[1]  # of the service and the attacker

    def as_service(self):
        if not self.apart:
            return {}
        return {"user": self.service[0], "group": self.service[1], "extra_groups": [self.shared_gid], "umask": 0o077}

    def become_attacker(self):
        os.umask(0o007)
        if self.apart:
            os.setgroups([self.shared_gid])
            os.setgid(self.attacker[1])
            os.setuid(self.attacker[0])

    def give(self, path, user, gid=None, mode=0o700):
        os.makedirs(path, exist_ok=True)
        os.chown(path, user[0], user[1] if gid is None else gid)
        os.chmod(path, mode)


class Watch:
    def __init__(self, root, name, after, users, other_disk=""):
        self.name, self.after = name, after
        self.input, self.stage, self.archive = (os.path.join(root, name, part) for part in ("in", "stage", "archive"))
        self.output, self.moved = (os.path.join(other_disk or root, name, part) for part in ("out", "done"))
        for folder in (root, other_disk or root):
            users.give(os.path.join(folder, name), users.service, mode=0o755)
        for folder in (self.input, self.stage, self.archive):
            users.give(folder, users.attacker, users.shared_gid, 0o2770)
        for folder in (self.output, self.moved):
            users.give(folder, users.service)

    def yaml(self):
        move = f", move_to: {self.moved}" if self.after == "move" else ""
        return (f"  - {{input: {self.input}, output: {self.output}, after: {self.after}{move}, settle_ms: {SETTLE_MS}, "
                "retry_timeout_s: 0, rescan_s: 2, quarantine: {max_mb: 64}}\n")

    def good(self, number, seed):
        """(place, samples) of the good file that arrives beside a try."""
        rng = random.Random(f"{seed} good {number}")
        return f"good/{number % 7}/g{number:06}.png", [[rng.randrange(256) for _ in range(16)] for _ in range(8)]

    def put(self, place, samples):
        """At once: under a hidden name first, since there is no patience with half a file."""
        folder, name = os.path.split(os.path.join(self.input, place))
        os.makedirs(folder, exist_ok=True)
        hidden = os.path.join(folder, f".{name}.part")
        with open(hidden, "wb") as stream:
            stream.write(images.join(images.png(samples)))
        os.rename(hidden, os.path.join(folder, name))

    def wrong_with(self, place, samples):
        """A line where a good file is not as it should be; else nothing."""
        output, path = os.path.join(self.output, place), os.path.join(self.input, place)
        try:
            with open(output, "rb") as stream:
                if images.read_png(stream.read()).samples != samples:
                    return "its output has other pixels"
        except FileNotFoundError:
            return "has no output"
        except ValueError as error:
            return f"its output {error}"
        if os.path.lexists(path) != (self.after == "keep"):
            return f"the input is {'gone' if self.after == 'keep' else 'still there'}"
        if self.after == "move" and not os.path.lexists(os.path.join(self.moved, place)):
            return "was not moved"
        return ""


class Service:
    """The program as it watches; a thread asks for its health as long as it should have some."""

    def __init__(self, program, root, watches, users, threads):
        self.users, self.program, self.watches = users, program, watches
        self.socket = os.path.join(root, "run", "status")
        users.give(os.path.dirname(self.socket), users.service)
        config = os.path.join(root, "eckart.yaml")
        with open(config, "w") as stream:
            stream.write(f"backend: cpu\nbudget_mb: 256\nthreads: {{load: {threads}, write: 3}}\n"
                         f"telemetry: {{listen: {self.socket}}}\nwatches:\n" + "".join(w.yaml() for w in watches))
        self.command = [program, "watch", "--config", config]
        self.log = open(os.path.join(root, "log"), "ab")
        self.process, self.lock = None, threading.Lock()
        self.asked, self.problems, self.most_mb = 0, [], 0
        self.over = threading.Event()
        threading.Thread(target=self.ask_again, daemon=True).start()

    def start(self):
        process = subprocess.Popen(self.command, stdout=self.log, stderr=self.log, **self.users.as_service())
        end = time.monotonic() + STOP_SECONDS
        while not self.healthy()[0] and process.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        with self.lock:
            self.process = process

    def healthy(self):
        """(whether, what it says)."""
        try:
            with socket.socket(socket.AF_UNIX) as one:
                one.settimeout(ANSWER_SECONDS)
                one.connect(self.socket)
                one.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                said = one.recv(4096).decode(errors="replace")
                return said.startswith("HTTP/1.1 200"), said.split("\r\n")[0] + " " + said[said.find("\r\n\r\n") + 4 :].strip()
        except OSError as error:
            return False, str(error)

    def ask_again(self):
        while not self.over.wait(0.25):
            with self.lock:
                process = self.process
            if process is None:
                continue
            is_well, said = self.healthy()
            with self.lock:
                if process is self.process:  # nobody has ended it meanwhile
                    self.asked += 1
                    if not is_well and process.poll() is None:
                        self.problems.append(f"/healthz: {said}")
                    self.sample()

    def sample(self):
        try:
            with open(f"/proc/{self.process.pid}/status") as stream:
                high = next(int(line.split()[1]) for line in stream if line.startswith("VmHWM"))
                self.most_mb = max(self.most_mb, high * 1024 / 1e6)
        except (OSError, StopIteration):
            pass  # it has ended

    def leave(self):
        with self.lock:
            self.sample()
            process, self.process = self.process, None
        if process.poll() is not None:
            self.problems.append(f"the service had ended with {process.returncode}")
        return process

    def kill(self):
        process = self.leave()
        process.kill()
        process.wait()

    def stop(self):
        """Whether it ended in time."""
        process = self.leave()
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
        """However this ends, it leaves no process."""
        self.over.set()
        with self.lock:
            if self.process and self.process.poll() is None:
                self.process.kill()
                self.process.wait()

    def watched_inodes(self):
        """Of all that it has inotify watches on."""
        with self.lock:
            folder = f"/proc/{self.process.pid}/fdinfo" if self.process else ""
        found = set()
        for name in os.listdir(folder) if folder and os.path.isdir(folder) else ():
            try:
                with open(os.path.join(folder, name)) as stream:
                    found |= {int(line.split("ino:")[1].split()[0], 16) for line in stream if line.startswith("inotify")}
            except OSError:
                pass  # closed meanwhile
        return found

    def ask(self, *arguments):
        """eckart ARGUMENTS, as the service's user; its exit status, or None where it does not end."""
        try:
            return subprocess.run([self.program, *arguments], stdout=subprocess.DEVNULL, stderr=self.log,
                                  timeout=STOP_SECONDS, check=False, **self.users.as_service()).returncode
        except subprocess.TimeoutExpired:
            return None


def program_for_all(program, root, users):
    """Where another user may run it, too."""
    if not users.apart:
        return os.path.abspath(program)
    copy = os.path.join(root, "eckart")
    shutil.copy(program, copy)
    os.chmod(copy, 0o755)
    return copy

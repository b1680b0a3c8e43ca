"""A run of tools/symlink-attack-test: batches of attacks, with a check of all files after each batch."""
import collections
import json
import os
import random
import shutil
import stat
import sys
import threading
import time

from . import attacks, images, outside
from .inbox import STOP_SECONDS, Service, Users, Watch, program_for_all_users

MIN_ATTACKER_THREADS = 5  # large batches have more
PROGRESS_SECONDS = 60  # within this time, at least one more good file must be done
KINDS = ("listed", "read", "leaked", "moved", "deleted", "changed", "created", "hidden", "hung", "not done")
LARGE_IMAGES = 24  # arrive with each batch, so that other files wait


def start_attackers(prepare, tries, with_good_file, seed):
    """Starts a process that calls prepare() and makes the tries. Returns its ID and a pipe with its results as JSON."""
    reading, writing = os.pipe()
    process = os.fork()
    if process:
        os.close(writing)
        return process, reading
    code = 1
    try:
        os.close(reading)
        prepare()
        results = attack(tries, with_good_file, seed)
        with os.fdopen(writing, "w") as stream:
            json.dump(results, stream)
        code = 0
    except BaseException as error:  # the child process must not return from here
        print(f"symlink-attack-test: an attacker process failed: {error!r}", file=sys.stderr)
    finally:
        sys.stdout.flush()
        os._exit(code)


def attack(tries, with_good_file, seed):
    """Makes the tries, and adds a good file to the watch of each try in `with_good_file`. Returns
    {number: [whether the attack was made, files that must be kept, files that must be processed, error]}.
    """
    results, lock = {}, threading.Lock()
    queue = collections.deque(sorted({*tries, *with_good_file}, key=lambda t: t.number))

    def work():
        while True:
            with lock:
                if not queue:
                    return
                t = queue.popleft()
            error = ""
            try:
                if t in with_good_file:
                    t.watch.put(*t.watch.good(t.number, seed))
                if t not in tries:
                    continue
                t.run()
            except OSError as failure:
                error = f"{failure!r}"
            results[t.number] = [t.is_done, t.kept, t.expected, error]
    threads = [threading.Thread(target=work) for _ in range(max(MIN_ATTACKER_THREADS, len(with_good_file) // 10))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


class Run:
    def __init__(self, options, root, disk):
        self.seed, self.root, self.disk = int(options["--seed"]), root, disk
        self.rng = random.Random(self.seed)
        self.users = Users()
        self.watches = [Watch(root, name, name, self.users) for name in ("keep", "move", "delete")]
        self.watches.append(Watch(root, "move-to-disk", "move", self.users, disk))
        self.service = Service(program_for_all_users(options["--program"], root, self.users), root, self.watches, self.users,
                               int(options["--threads"]))
        self.victims = [outside.Victim(os.path.join(root, "victims", f"{i:03}"), i, *self.users.victim[:1],
                                       self.users.service[1]) for i in range(int(options["--batch"]))]
        self.hashes = {digest: victim for victim in self.victims for digest in victim.hashes()}
        self.sees_reads = outside.updates_access_times(root)
        self.large = images.join(images.png([[self.rng.randrange(256) for _ in range(400)] for _ in range(400)]))
        self.counts = collections.defaultdict(collections.Counter)  # by attack
        self.events, self.errors = collections.Counter(), collections.Counter()
        self.violations = collections.defaultdict(list)  # paths by try and kind
        self.problems, self.good = [], 0

    def add_problem(self, attack_name, kind, line):
        self.counts[attack_name][kind] += 1
        self.problems.append(f"{attack_name}: {line}")

    def batch(self, number, label, chosen):
        """Makes some tries and disturbances at the same time, stops the service and checks all files."""
        rng = random.Random(f"{self.seed} batch {number}")
        tries = [attacks.Try(number * len(self.victims) + i, name, rng.choice(self.watches), self.victims[i].folder, self.seed)
                 for i, name in enumerate(chosen)]
        self.put_large_images(rng.choice(self.watches))
        attackers = [start_attackers(self.users.become_attacker, [t for t in tries if t.name not in attacks.NEED_ROOT],
                                   tries, self.seed)]
        as_root = [t for t in tries if t.name in attacks.NEED_ROOT]
        if as_root:
            attackers.append(start_attackers(lambda: os.umask(0o007), as_root, [], self.seed))
        results, kills = {}, self.events["kill -9"]
        disturbances = threading.Thread(target=lambda: self.disturb(rng, label))
        disturbances.start()
        for process, pipe in attackers:
            with os.fdopen(pipe) as stream:
                results.update(json.loads(stream.read() or "{}"))
            os.waitpid(process, 0)
        disturbances.join()
        good = [(t.watch, *t.watch.good(t.number, self.seed)) for t in tries]
        for t in tries:
            t.is_done, t.kept, t.expected, error = results.get(str(t.number), [False, [], [], "no result"])
            self.counts[t.name]["tries"] += t.is_done
            if error:
                self.errors[f"{t.name}: {error.split(',')[0]}"] += 1
            good += [(t.watch, path, samples) for path, samples in t.expected]
        self.wait_until_processed(good, label)
        self.requeue(label, self.watches if label in ("requeue", "mixed") else [rng.choice(self.watches)])
        self.check_service(tries)
        self.stop(label)
        self.check_good_files(good, label)
        self.check_hidden_names(label, kills)
        self.check_outside(tries)
        self.clean_up()

    def put_large_images(self, watch):
        folder = os.path.join(watch.stage, "large")
        os.mkdir(folder)
        for i in range(LARGE_IMAGES):
            with open(os.path.join(folder, f"{i}.png"), "wb") as stream:
                stream.write(self.large)
        for path in (folder, *(os.path.join(folder, name) for name in os.listdir(folder))):
            os.chown(path, self.users.attacker[0], self.users.shared_gid)
            os.chmod(path, 0o2770 if path == folder else 0o660)
        os.rename(folder, os.path.join(watch.input, "large"))

    def disturb(self, rng, label):
        """Disturbs the service during the attacks: kill -9, SIGTERM, requeue, or a full disk."""
        for event in rng.sample(("kill -9", "SIGTERM", "requeue", "full disk", "nothing", "nothing"), 2):
            time.sleep(rng.uniform(0, 0.4))
            if event == "kill -9":
                self.service.kill()
                self.service.start()
            elif event == "SIGTERM":
                self.stop(label)
                self.service.start()
                continue  # stop() counts it
            elif event == "requeue":
                self.requeue(label, [rng.choice(self.watches)])
            elif event == "full disk" and os.path.ismount(self.disk):
                self.fill_disk()
            else:
                continue
            self.events[event] += 1

    def fill_disk(self):
        path = os.path.join(self.disk, "fill")
        try:
            with open(path, "wb", buffering=0) as stream:
                while stream.write(bytes(1 << 16)) == 1 << 16:
                    pass
        except OSError:
            pass  # the disk is full
        time.sleep(0.2)
        os.unlink(path)

    def stop(self, label):
        self.events["SIGTERM"] += 1
        if not self.service.stop():
            self.add_problem(label, "hung", f"the service did not end within {STOP_SECONDS} s of SIGTERM")

    def requeue(self, label, watches):
        for watch in watches:
            if self.service.run_command("requeue", watch.output) is None:
                self.add_problem(label, "hung", f"eckart requeue {watch.output} did not end")
        time.sleep(0.1)

    def wait_until_processed(self, good, label):
        """Waits until all good files are done, or until none of them was done for a while."""
        remaining, since = good, time.monotonic()
        while True:
            still_remaining = [file for file in remaining if file[0].problem_of(*file[1:])]
            if len(still_remaining) < len(remaining):
                since = time.monotonic()
            remaining = still_remaining
            if not remaining:
                return
            if time.monotonic() - since > PROGRESS_SECONDS:
                watch, path, _ = remaining[0]
                return self.add_problem(label, "hung", f"{len(remaining)} good files of {len(good)} are not done ({path!r} of "
                                        f"{watch.name}), and none was done for {PROGRESS_SECONDS} s")
            time.sleep(0.05)

    def check_service(self, tries):
        watch = self.rng.choice(self.watches)
        if self.service.run_command("status", watch.output) not in (0, 3):
            self.problems.append(f"eckart status {watch.output} failed")
        watched = self.service.watched_inodes()
        for t, victim in zip(tries, self.victims):
            if any(victim.known[folder][0] in watched for folder in victim.folders()):
                self.add_violation(t, "listed", f"{victim.folder}, by inotify")

    def check_good_files(self, good, label):
        self.good += len(good)
        wrong = [(watch, path, why) for watch, path, samples in good if (why := watch.problem_of(path, samples))]
        if wrong:
            watch, path, why = wrong[0]
            self.add_problem(label, "not done", f"{len(wrong)} good files of {len(good)} are not done; {path!r} of {watch.name}: {why}")

    def check_outside(self, tries):
        for t, victim in zip(tries, self.victims):
            touched = victim.touched(self.sees_reads)
            for kind, path, inode in touched + touched_kept_files(t):
                target = self.find_moved(inode) if kind == "deleted" else ""
                self.add_violation(t, "moved" if target else kind, f"{path}{target and ', to '}{target}")
            if touched:
                victim.restore()
        for watch in self.watches:
            for folder in (watch.output, watch.moved):
                self.check_for_secrets(folder, tries)
        for (t, kind), paths in self.violations.items():
            more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
            self.add_problem(t.name, kind, f"try {t.number} ({t.watch.name}): {kind}: {paths[0]}{more}")
        self.violations.clear()

    def add_violation(self, t, kind, path):
        """The violations of a try are reported as one problem for each kind."""
        self.violations[t, kind].append(path)

    def find_moved(self, inode):
        """Returns the current path of a file from outside the inputs, identified by (inode, mtime_ns), or ""."""
        for root, _, files, folder in (entry for top in self.folders() for entry in os.fwalk(top)):
            for name in files:
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                if (status.st_ino, status.st_mtime_ns) == inode:
                    return os.path.join(root, name)
        return ""

    def check_for_secrets(self, folder, tries):
        by_path = {t.path: t for t in tries}
        for root, _, files in os.walk(folder):
            for name in files:
                path = os.path.join(root, name)
                t = next((by_path[part] for part in path.split("/") if part in by_path), tries[0])
                if not stat.S_ISREG(os.lstat(path).st_mode):  # for example a link that was moved
                    continue
                with open(path, "rb") as stream:
                    data = stream.read(4096)
                if outside.is_secret(data) or any(digest.encode() in data for digest in self.hashes):
                    self.add_violation(t, "leaked", path)

    def clean_up(self):
        """Removes all files except the ledgers."""
        for watch in self.watches:
            shutil.rmtree(os.path.join(watch.output, ".eckart", "quarantine"), ignore_errors=True)
        for folder in self.folders():
            for name in set(os.listdir(folder)) - {".eckart"}:
                remove(os.path.join(folder, name))

    def check_hidden_names(self, label, kills):
        """Checks that no file has the hidden name of a claimed file after a start has scanned everything. A killed service
        cannot restore a file in a folder that is no longer below an input.
        """
        if any(True for _ in self.claimed()):
            self.service.start()
            time.sleep(3)
            self.stop(label)
        for path in self.claimed():
            is_in_input = any(path.startswith(watch.input + "/") for watch in self.watches)
            if self.events["kill -9"] > kills and not is_in_input:
                self.events["hidden name after kill -9 in a folder outside the input"] += 1
            else:
                self.add_problem(label, "hidden", f"hidden name: {path}")

    def claimed(self):
        for top in self.folders():
            for root, folders, files, _ in os.fwalk(top):
                yield from (os.path.join(root, name) for name in folders + files
                            if name.startswith(".eckart-claim-") and not name.startswith(attacks.PLANTED))

    def folders(self):
        """Returns the folders of the watches. Listing those of the victims would change their access times."""
        return [folder for watch in self.watches
                for folder in (watch.input, watch.stage, watch.archive, watch.output, watch.moved)]


def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        os.unlink(path)


def touched_kept_files(t):
    """Returns what was done to files of the attacker that had left the input, as Victim.touched() does."""
    found = []
    for path, inode, mtime_ns, size in t.kept:
        if not os.path.lexists(path):
            found.append(("deleted", path, (inode, mtime_ns)))
        elif os.lstat(path).st_size != size:
            found.append(("changed", path, None))
    return found

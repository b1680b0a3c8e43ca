"""One run of tools/symlink-attack-test: batches of attacks, and a look at everything after each."""
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
from .inbox import STOP_SECONDS, Service, Users, Watch, program_for_all

ATTACKERS = 5  # threads, and more for large batches
GOOD_SECONDS = 60  # in which at least one more good file must be done, until all are; the machine may be busy
KINDS = ("listed", "read", "leaked", "moved", "deleted", "changed", "made", "left", "hung", "not done")
BALLAST = 24  # larger images at once, so that others wait


def in_process_of(prepare, tries, beside, seed):
    """Starts a process that makes the tries; returns its id and the pipe with what became of them."""
    reading, writing = os.pipe()
    process = os.fork()
    if process:
        os.close(writing)
        return process, reading
    code = 1
    try:
        os.close(reading)
        prepare()
        told = attack(tries, beside, seed)
        with os.fdopen(writing, "w") as stream:
            json.dump(told, stream)
        code = 0
    except BaseException as error:  # a child must not go on as its parent
        print(f"symlink-attack-test: an attacker's process ended: {error!r}", file=sys.stderr)
    finally:
        sys.stdout.flush()
        os._exit(code)


def attack(tries, beside, seed):
    """Makes the tries, and for each of those `beside` puts a good file into its watch.
    {number: [whether it came to pass, files that must stay, files that must be done, error]}
    """
    told, lock = {}, threading.Lock()
    queue = collections.deque(sorted({*tries, *beside}, key=lambda one: one.number))

    def work():
        while True:
            with lock:
                if not queue:
                    return
                one = queue.popleft()
            error = ""
            try:
                if one in beside:
                    one.watch.put(*one.watch.good(one.number, seed))
                if one not in tries:
                    continue
                one.run()
            except OSError as failed:
                error = f"{failed!r}"
            told[one.number] = [one.made, one.keeps, one.expects, error]
    threads = [threading.Thread(target=work) for _ in range(max(ATTACKERS, len(beside) // 10))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return told


class Run:
    def __init__(self, options, root, disk):
        self.seed, self.root, self.disk = int(options["--seed"]), root, disk
        self.dice = random.Random(self.seed)
        self.users = Users()
        self.watches = [Watch(root, name, name, self.users) for name in ("keep", "move", "delete")]
        self.watches.append(Watch(root, "ship", "move", self.users, disk))
        self.service = Service(program_for_all(options["--program"], root, self.users), root, self.watches, self.users,
                               int(options["--threads"]))
        self.victims = [outside.Victim(os.path.join(root, "victims", f"{i:03}"), i, *self.users.victim[:1],
                                       self.users.service[1]) for i in range(int(options["--batch"]))]
        self.hashes = {digest: victim for victim in self.victims for digest in victim.hashes()}
        self.sees_reads = outside.keeps_access_times(root)
        self.large = images.join(images.png([[self.dice.randrange(256) for _ in range(400)] for _ in range(400)]))
        self.counts = collections.defaultdict(collections.Counter)  # by attack
        self.events, self.errors = collections.Counter(), collections.Counter()
        self.harms = collections.defaultdict(list)  # by try and kind
        self.problems, self.good = [], 0

    def problem(self, attack_name, kind, line):
        self.counts[attack_name][kind] += 1
        self.problems.append(f"{attack_name}: {line}")

    def batch(self, number, label, chosen):
        """Some tries at once, with all that happens beside them; then the service is stopped, and all is looked at."""
        dice = random.Random(f"{self.seed} batch {number}")
        tries = [attacks.Try(number * len(self.victims) + i, name, dice.choice(self.watches), self.victims[i].folder, self.seed)
                 for i, name in enumerate(chosen)]
        self.put_ballast(dice.choice(self.watches))
        attackers = [in_process_of(self.users.become_attacker, [t for t in tries if t.name not in attacks.NEED_ROOT],
                                   tries, self.seed)]
        as_root = [t for t in tries if t.name in attacks.NEED_ROOT]
        if as_root:
            attackers.append(in_process_of(lambda: os.umask(0o007), as_root, [], self.seed))
        told, kills = {}, self.events["kill -9"]
        events = threading.Thread(target=lambda: self.disturb(dice, label))
        events.start()
        for process, pipe in attackers:
            with os.fdopen(pipe) as stream:
                told.update(json.loads(stream.read() or "{}"))
            os.waitpid(process, 0)
        events.join()
        good = [(t.watch, *t.watch.good(t.number, self.seed)) for t in tries]
        for t in tries:
            t.made, t.keeps, t.expects, error = told.get(str(t.number), [False, [], [], "no word of it"])
            self.counts[t.name]["tries"] += t.made
            if error:
                self.errors[f"{t.name}: {error.split(',')[0]}"] += 1
            good += [(t.watch, place, samples) for place, samples in t.expects]
        self.wait_for(good, label)
        self.requeue(label, self.watches if label in ("requeue", "mixed") else [dice.choice(self.watches)])
        self.look_at_service(tries)
        self.stop(label)
        self.look_at_good(good, label)
        self.look_for_taken(label, kills)
        self.look_at_outside(tries)
        self.clean_up()

    def put_ballast(self, watch):
        folder = os.path.join(watch.stage, "ballast")
        os.mkdir(folder)
        for i in range(BALLAST):
            with open(os.path.join(folder, f"{i}.png"), "wb") as stream:
                stream.write(self.large)
        for path in (folder, *(os.path.join(folder, name) for name in os.listdir(folder))):
            os.chown(path, self.users.attacker[0], self.users.shared_gid)
            os.chmod(path, 0o2770 if path == folder else 0o660)
        os.rename(folder, os.path.join(watch.input, "ballast"))

    def disturb(self, dice, label):
        """What happens beside the attacks: the service is killed or stopped, requeues, has no room."""
        for what in dice.sample(("kill -9", "SIGTERM", "requeue", "full disk", "nothing", "nothing"), 2):
            time.sleep(dice.uniform(0, 0.4))
            if what == "kill -9":
                self.service.kill()
                self.service.start()
            elif what == "SIGTERM":
                self.stop(label)
                self.service.start()
                continue  # it is counted there
            elif what == "requeue":
                self.requeue(label, [dice.choice(self.watches)])
            elif what == "full disk" and os.path.ismount(self.disk):
                self.fill_disk()
            else:
                continue
            self.events[what] += 1

    def fill_disk(self):
        path = os.path.join(self.disk, "fill")
        try:
            with open(path, "wb", buffering=0) as stream:
                while stream.write(bytes(1 << 16)) == 1 << 16:
                    pass
        except OSError:
            pass  # it is full
        time.sleep(0.2)
        os.unlink(path)

    def stop(self, label):
        self.events["SIGTERM"] += 1
        if not self.service.stop():
            self.problem(label, "hung", f"the service did not end within {STOP_SECONDS} s of SIGTERM")

    def requeue(self, label, watches):
        for watch in watches:
            if self.service.ask("requeue", watch.output) is None:
                self.problem(label, "hung", f"eckart requeue {watch.output} did not end")
        time.sleep(0.1)

    def wait_for(self, good, label):
        """Until all are there with their last pixels, or nothing more comes."""
        left, since = good, time.monotonic()
        while True:
            still = [one for one in left if one[0].wrong_with(*one[1:])]
            if len(still) < len(left):
                since = time.monotonic()
            left = still
            if not left:
                return
            if time.monotonic() - since > GOOD_SECONDS:
                watch, place, _ = left[0]
                return self.problem(label, "hung", f"{len(left)} good files of {len(good)} are not done ({place!r} of {watch.name}), "
                                    f"and no more is done within {GOOD_SECONDS} s")
            time.sleep(0.05)

    def look_at_service(self, tries):
        watch = self.dice.choice(self.watches)
        if self.service.ask("status", watch.output) not in (0, 3):
            self.problems.append(f"eckart status {watch.output} does not answer")
        watched = self.service.watched_inodes()
        for t, victim in zip(tries, self.victims):
            if any(victim.known[folder][0] in watched for folder in victim.folders()):
                self.harm(t, "listed", f"{victim.folder}, by inotify")

    def look_at_good(self, good, label):
        self.good += len(good)
        wrong = [(watch, place, why) for watch, place, samples in good if (why := watch.wrong_with(place, samples))]
        if wrong:
            watch, place, why = wrong[0]
            self.problem(label, "not done", f"{len(wrong)} good files of {len(good)} are not done; {place!r} of {watch.name}: {why}")

    def look_at_outside(self, tries):
        for t, victim in zip(tries, self.victims):
            touched = victim.touched(self.sees_reads)
            for kind, path, inode in touched + touched_of_kept(t):
                where = self.place_of(inode) if kind == "deleted" else ""
                self.harm(t, "moved" if where else kind, f"{path}{where and ', to '}{where}")
            if touched:
                victim.mend()
        for watch in self.watches:
            for folder in (watch.output, watch.moved):
                self.look_for_secrets(folder, tries)
        for (t, kind), paths in self.harms.items():
            more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
            self.problem(t.name, kind, f"try {t.number} ({t.watch.name}): {kind}: {paths[0]}{more}")
        self.harms.clear()

    def harm(self, t, kind, path):
        """Told once for each try, however many files it has cost."""
        self.harms[t, kind].append(path)

    def place_of(self, inode):
        """Where a file that has gone from outside the inputs is by now; (inode, mtime_ns) tells it from later ones."""
        for root, _, files, folder in (entry for top in self.folders() for entry in os.fwalk(top)):
            for name in files:
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                if (status.st_ino, status.st_mtime_ns) == inode:
                    return os.path.join(root, name)
        return ""

    def look_for_secrets(self, folder, tries):
        by_place = {t.place: t for t in tries}
        for root, _, files in os.walk(folder):
            for name in files:
                path = os.path.join(root, name)
                t = next((by_place[part] for part in path.split("/") if part in by_place), tries[0])
                if not stat.S_ISREG(os.lstat(path).st_mode):  # moved as it was
                    continue
                with open(path, "rb") as stream:
                    data = stream.read(4096)
                if outside.is_secret(data) or any(digest.encode() in data for digest in self.hashes):
                    self.harm(t, "leaked", path)

    def clean_up(self):
        """The ledgers stay, as they would in use."""
        for watch in self.watches:
            shutil.rmtree(os.path.join(watch.output, ".eckart", "quarantine"), ignore_errors=True)
        for folder in self.folders():
            for name in set(os.listdir(folder)) - {".eckart"}:
                remove(os.path.join(folder, name))

    def look_for_taken(self, label, kills):
        """No file is left under the name that it has while it is taken away, once a start has scanned everything.
        What a killed service had taken from a folder that is outside the inputs by now is out of its reach.
        """
        if any(True for _ in self.taken()):
            self.service.start()
            time.sleep(3)
            self.stop(label)
        for path in self.taken():
            is_in_input = any(path.startswith(watch.input + "/") for watch in self.watches)
            if self.events["kill -9"] > kills and not is_in_input:
                self.events["hidden name left by kill -9 in a folder that had left the input"] += 1
            else:
                self.problem(label, "left", f"left over: {path}")

    def taken(self):
        for top in self.folders():
            for root, folders, files, _ in os.fwalk(top):
                yield from (os.path.join(root, name) for name in folders + files
                            if name.startswith(".eckart-claim-") and not name.startswith(attacks.PLANTED))

    def folders(self):
        """Not those of the victims: a look at these would show in their access times."""
        return [folder for watch in self.watches
                for folder in (watch.input, watch.stage, watch.archive, watch.output, watch.moved)]


def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        os.unlink(path)


def touched_of_kept(t):
    """Likewise of files that were the attacker's own, and not in the inbox any more."""
    found = []
    for path, inode, mtime_ns, size in t.keeps:
        if not os.path.lexists(path):
            found.append(("deleted", path, (inode, mtime_ns)))
        elif os.lstat(path).st_size != size:
            found.append(("changed", path, None))
    return found

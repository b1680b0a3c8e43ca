"""Attacks on a watching service by a user who may write to the watched folder.

Each attack is a method attack_NAME(self) of Try. It runs as the attacker's user; those in NEED_ROOT run as root.
"""
import os
import random
import socket
import stat
import time

from . import images, outside
from .system import exchange, grow, mount_tmpfs, unmount

SETTLE_MS = 20
NEED_ROOT = ("device", "mount")
SPARSE_BYTES = 15 << 40
SPARSE_IMAGE_BYTES = 64 << 20  # each load thread reads so much at once
LARGE_BYTES = 12 << 20  # size of a large malformed file, which takes time to read and hash
PLANTED = ".eckart-claim-1.1-"  # prefix of the hidden names of claimed files


def names():
    return sorted(name[len("attack_"):] for name in dir(Try) if name.startswith("attack_"))


class Try:
    """One attack on one watch and one victim, with its own random numbers."""

    def __init__(self, number, name, watch, victim, seed):
        self.number, self.name, self.watch, self.victim = number, name, watch, victim
        self.random = random.Random(f"{seed} {number} {name}")
        self.path = f"t{number:06}"  # of its folder, relative to the input
        self.folder = os.path.join(watch.input, self.path)
        self.archive = os.path.join(watch.archive, self.path)
        self.stage = os.path.join(watch.stage, self.path)
        self.is_done = False  # whether the attack was made without an error
        self.kept = []  # (path, inode, mtime_ns, size): files outside the input that the service must not touch
        self.expected = []  # (path, samples): files that must be processed

    def run(self):
        os.mkdir(self.stage)
        getattr(self, f"attack_{self.name}")()
        self.is_done = True

    # Helpers of the attacks.

    def random_samples(self):
        rows, cols = 8, 16
        return [[self.random.randrange(256) for _ in range(cols)] for _ in range(rows)]

    def write(self, path, data):
        with open(path, "wb") as stream:
            stream.write(data)
        os.utime(path, ns=(outside.LONG_AGO_NS, time.time_ns()))  # a read changes the access time

    def fill(self, folder, large=False):
        """Writes files with the names of a victim's files, also in the subfolder. Returns the samples of the good ones."""
        samples = self.random_samples()
        image = images.join(images.png(samples))
        for part in (folder, os.path.join(folder, outside.SUBFOLDER)):
            os.makedirs(part, exist_ok=True)
            for name in outside.NAMES:
                bad = name.startswith("bad")
                self.write(os.path.join(part, name), b"no image " + name.encode() if bad else image)
                if bad and large:
                    grow(os.path.join(part, name), LARGE_BYTES)
        return samples

    def arrive(self, large=False):
        """Writes the folder below the input, or moves it there, in some cases after the settle time."""
        if self.random.random() < 0.3:
            self.fill(self.folder, large)
            return
        staged = os.path.join(self.stage, "arriving")
        self.fill(staged, large)
        if self.random.random() < 0.5:
            time.sleep(SETTLE_MS / 1e3)
        os.rename(staged, self.folder)

    def wait(self):
        """Waits for a random time or a read, so that the files are in a random stage of the service."""
        kind = self.random.randrange(5)
        if kind == 1:
            time.sleep(self.random.uniform(0, 0.15))
        elif kind == 2:
            time.sleep(self.random.uniform(0, 1.5 * SETTLE_MS / 1e3))
        elif kind == 3:
            self.wait_for_read(os.path.join(self.folder, self.random.choice(outside.NAMES)))
        elif kind == 4:
            self.wait_for_read(os.path.join(self.folder, "bad-0.png"))

    def wait_for_read(self, path):
        end = time.monotonic() + 0.4
        try:
            while os.lstat(path).st_atime_ns == outside.LONG_AGO_NS and time.monotonic() < end:
                time.sleep(0.0003)
        except FileNotFoundError:
            pass  # the service has claimed it

    def link_to_victim(self):
        link = os.path.join(self.stage, "link")
        relative = self.random.random() < 0.5
        os.symlink(os.path.relpath(self.victim, self.watch.input) if relative else self.victim, link)
        return link

    def keep(self, folder):
        """Records the files of the folder, except hidden ones: the service must not touch them from now on."""
        for root, _, files in os.walk(folder):
            for name in files:
                path = os.path.join(root, name)
                try:
                    status = os.lstat(path)
                except FileNotFoundError:
                    continue
                if not name.startswith("."):
                    self.kept.append((path, status.st_ino, status.st_mtime_ns, status.st_size))

    def replace_files(self, make, names=None):
        """Replaces each file of the folder by one that make(path) creates."""
        parts = (self.folder, os.path.join(self.folder, outside.SUBFOLDER))
        for i, part in enumerate(parts):
            for name in names or outside.NAMES:
                new = os.path.join(self.stage, f"{i}-{name}")
                make(new)
                try:
                    os.replace(new, os.path.join(part, name))
                except FileNotFoundError:
                    pass  # the folder was moved

    # The attacks.

    def attack_archived(self):
        """Not an attack: moves a folder to the archive and replaces it by a link."""
        self.arrive()
        self.wait()
        os.rename(self.folder, self.archive)
        self.keep(self.archive)
        relative = os.path.relpath(self.archive, self.watch.input)
        os.symlink(relative if self.random.random() < 0.5 else self.archive, self.folder)

    def attack_exchange(self):
        self.arrive()
        link = self.link_to_victim()
        self.wait()
        exchange(self.folder, link)

    def attack_flip(self):
        self.arrive()
        link = self.link_to_victim()
        self.wait()
        pause = self.random.choice((0, 0.0002, 0.002, 0.01))
        end = time.monotonic() + self.random.uniform(0.05, 0.4)
        while time.monotonic() < end:
            exchange(self.folder, link)
            time.sleep(pause)

    def attack_other_folder(self):
        """Exchanges the folder with another folder that has the same file names. The new files must be processed."""
        self.arrive()
        other = os.path.join(self.stage, "other")
        samples = self.fill(other)
        self.wait()
        exchange(self.folder, other)
        self.keep(other)
        self.expected += [(os.path.join(self.path, part, name), samples) for part in ("", outside.SUBFOLDER)
                         for name in outside.NAMES if not name.startswith("bad")]

    def attack_other_file(self):
        """Replaces files after they were read. The new files must not be moved or deleted before they are processed."""
        self.arrive()
        self.wait()
        samples = self.random_samples()
        image = images.join(images.png(samples))
        good = [name for name in outside.NAMES if not name.startswith("bad")]
        os.makedirs(os.path.join(self.folder, outside.SUBFOLDER), exist_ok=True)
        self.replace_files(lambda new: self.write(new, image), good)
        self.expected += [(os.path.join(self.path, part, name), samples) for part in ("", outside.SUBFOLDER) for name in good]

    def attack_link_for_file(self):
        self.arrive()
        self.wait()
        self.replace_files(lambda new: os.symlink(self.same_named(new), new))

    def same_named(self, new):
        """Returns the victim's file whose name the new file will get."""
        part, name = os.path.basename(new).split("-", 1)
        return os.path.join(self.victim, outside.SUBFOLDER if part == "1" else "", name)

    def attack_link_arrives(self):
        """Moves in a folder with links of every kind."""
        staged = os.path.join(self.stage, "arriving")
        os.mkdir(staged)
        target = os.path.join(self.victim, "0.png")
        up = os.path.relpath(target, self.folder)
        targets = {"absolute": target, "relative": up, "root": f"/proc/self/root{target}",
                   "chain-1": "chain-2.png", "chain-2": target, "dots": f"./../{self.path}/./{up}",
                   "folder": self.victim, "subfolder": f"{self.victim}/{outside.SUBFOLDER}/",
                   "bad": os.path.join(self.victim, "bad-0.png"), "loop": "loop.png", "self": "/proc/self/exe",
                   "environment": "/proc/self/environ", "input": "/proc/self/fd/0", "dangling": "gone.png",
                   "working": f"/proc/self/cwd/{os.path.relpath(target, '/')}", "endless": "/dev/zero"}
        for name, where in targets.items():
            os.symlink(where, os.path.join(staged, f"{name}.png"))
        os.symlink(self.victim, os.path.join(staged, "a-folder"))
        os.rename(staged, self.folder)

    def attack_hard_link(self):
        """Adds hard links to archived files. The service may remove the links, but not the originals."""
        self.fill(self.archive)
        self.keep(self.archive)
        staged = os.path.join(self.stage, "arriving")
        os.mkdir(staged)
        for name in outside.NAMES:
            os.link(os.path.join(self.archive, name), os.path.join(staged, name))
        os.rename(staged, self.folder)

    def attack_fifo(self):
        self.arrive(large=self.random.random() < 0.5)
        self.wait()
        self.replace_files(os.mkfifo)

    def attack_socket(self):
        self.arrive()
        self.wait()
        stage = os.open(self.stage, os.O_PATH)

        def make(new):
            with socket.socket(socket.AF_UNIX) as unix_socket:
                unix_socket.bind(f"/proc/self/fd/{stage}/{os.path.basename(new)}")
        try:
            self.replace_files(make)
        finally:
            os.close(stage)

    def attack_device(self):
        self.arrive()
        self.wait()
        self.replace_files(lambda new: os.mknod(new, 0o666 | stat.S_IFCHR, os.makedev(1, 5)))  # /dev/zero

    def attack_sparse(self):
        """Replaces malformed files by files larger than any disk after they were read."""
        self.arrive(large=True)
        self.wait_for_read(os.path.join(self.folder, "bad-0.png"))
        self.replace_files(lambda new: grow(new, SPARSE_BYTES), [n for n in outside.NAMES if n[:3] == "bad"])

    def attack_sparse_image(self):
        """Adds a sparse file that uses much memory if it is read before its header is checked."""
        staged = os.path.join(self.stage, "arriving")
        os.mkdir(staged)
        path = os.path.join(staged, "0.png")
        self.write(path, self.random.choice((b"", images.join(images.png(self.random_samples()))[:33])))
        grow(path, SPARSE_IMAGE_BYTES)
        os.rename(staged, self.folder)

    def attack_bad_replaced(self):
        """Replaces malformed files while the service moves them to the quarantine."""
        self.arrive(large=True)
        self.wait_for_read(os.path.join(self.folder, "bad-0.png"))
        time.sleep(self.random.uniform(0, 0.02))
        kinds = (os.mkfifo, os.mkdir, lambda new: grow(new, SPARSE_BYTES),
                 lambda new: os.symlink(self.same_named(new), new),
                 lambda new: self.write(new, images.join(images.png(self.random_samples()))))

        def replace(new):
            make = self.random.choice(kinds)
            make(new)
            if make == os.mkdir:  # a folder replaces no file
                part = outside.SUBFOLDER if os.path.basename(new).startswith("1-") else ""
                old = os.path.join(self.folder, part, os.path.basename(new)[2:])
                if os.path.lexists(old):
                    exchange(new, old)
        for name in outside.NAMES:
            if name.startswith("bad"):
                try:
                    self.replace_files(replace, [name])
                except (IsADirectoryError, NotADirectoryError):
                    pass  # it was already replaced

    def attack_mount(self):
        """Mounts a file system with files of the same names over the folder, and unmounts it."""
        self.arrive()
        self.wait()
        for _ in range(self.random.randrange(1, 4)):
            status = os.stat(self.folder)
            mount_tmpfs(self.folder, f"size=4m,mode=2770,uid={status.st_uid},gid={status.st_gid}")
            try:
                self.fill(self.folder)
                self.wait()
            finally:
                unmount(self.folder)

    def attack_moving(self):
        """Renames a tree while it is scanned, also out of the input and back."""
        self.arrive()
        paths = [self.folder, f"{self.folder}-2", self.archive]
        current = 0
        for _ in range(self.random.randrange(2, 30)):
            following = self.random.choice([i for i in range(3) if i != current])
            os.rename(paths[current], paths[following])
            current = following
            time.sleep(self.random.choice((0, 0.001, 0.01, 0.03)))
        if current == 2:
            self.keep(self.archive)

    def attack_deep(self):
        """Adds a tree whose paths are longer than the limit, and replaces its top folder by a link."""
        os.makedirs(os.path.join(self.stage, "arriving"))
        descriptor = os.open(os.path.join(self.stage, "arriving"), os.O_RDONLY | os.O_DIRECTORY)
        image = images.join(images.png(self.random_samples()))
        name = "d" * self.random.choice((1, 60, 255))
        for depth in range(self.random.randrange(5, 60)):
            os.mkdir(name, dir_fd=descriptor)
            below = os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = below
            if depth % 5 == 0:
                with open(os.open("0.png", os.O_CREAT | os.O_WRONLY, 0o660, dir_fd=descriptor), "wb") as stream:
                    stream.write(image)
        os.close(descriptor)
        os.rename(os.path.join(self.stage, "arriving"), self.folder)
        link = self.link_to_victim()
        self.wait()
        exchange(self.folder, link)

    def attack_names(self):
        """Adds files with unusual names, which must all be processed."""
        os.mkdir(self.folder)
        text = ("new\nline", "tab\t", "\x1b[31mred\x1b[0m", "a\u202eb", "\u2028", "\x85", "-rf", "a b", "'\"`$(id)", "%s%n",
                "*", "?", "\\", "C:", "~", "#", "&&", "{stem}", "{name}.{ext}")
        stems = [os.fsencode(stem) for stem in text] + [b"\xff\xfe", b"\xc3(", b"x" * 251, b"\xf0\x9f\x98\x80" * 62]
        for stem in self.random.sample(stems, 6):
            samples = self.random_samples()
            path = os.path.join(os.fsencode(self.folder), stem + b".png")
            self.write(path, images.join(images.png(samples)))
            self.expected.append((os.path.join(self.path, os.fsdecode(stem + b".png")), samples))

    def attack_folder_like_file(self):
        """Adds a malformed file q.png, then replaces it by a folder q.png with malformed files."""
        os.mkdir(self.folder)
        path = os.path.join(self.folder, "q.png")
        inner = os.path.join(self.stage, "inner")
        os.mkdir(inner)
        for name in ("bad.png", "q.png"):
            self.write(os.path.join(inner, name), b"no image")
        self.write(path, b"no image")
        self.wait()
        if os.path.lexists(path):
            exchange(path, inner)
        else:
            os.rename(inner, path)

    def attack_requeue(self):
        """Waits until malformed files are quarantined, then replaces their folder by a link; the files are requeued later."""
        os.mkdir(self.folder)
        paths = [os.path.join(self.folder, f"requeue-{i}.png") for i in range(3)]
        for path in paths:
            self.write(path, b"no image")
        end = time.monotonic() + 3
        while self.watch.after != "keep" and time.monotonic() < end and any(map(os.path.lexists, paths)):
            time.sleep(0.005)
        os.rename(self.folder, os.path.join(self.stage, "away"))
        os.rename(self.link_to_victim(), self.folder)

    def attack_planted(self):
        """Adds files with the hidden names that the service uses for claimed files."""
        self.arrive()
        prefix = os.path.join(self.folder, PLANTED)
        os.symlink(os.path.join(self.victim, "0.png"), f"{prefix}link.png")
        os.symlink(self.victim, f"{prefix}folder.png")
        os.mkfifo(f"{prefix}fifo.png")
        for name in ("..", ".", "", "0.png"):
            self.write(prefix + name, b"planted")
        link = self.link_to_victim()
        self.wait()
        exchange(self.folder, link)

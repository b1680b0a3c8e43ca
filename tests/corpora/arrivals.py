"""Makes files arrive in watched folders in different ways, and records the expected result of each."""
import collections
import os
import random
import time

from . import images

ROWS, COLS = 8, 16
PREFIX = "arrive_"


def png(samples):
    return images.join(images.png(samples))


class Watch:
    def __init__(self, root, after):
        self.after = after
        self.input, self.output, self.moved = (os.path.join(root, after, name) for name in ("in", "out", "done"))
        self.stage = os.path.join(root, after, "stage")  # on the same file system, not watched
        os.makedirs(self.input)
        os.makedirs(self.stage)
        for folder in (self.input, self.output, self.moved):  # an empty folder might be removed
            os.makedirs(folder, exist_ok=True)
            open(os.path.join(folder, "not-an-image.txt"), "w").close()
        self.expected = {}  # path below the input: pixels of its last version; None if it is never complete

    def yaml(self):
        move = f", move_to: {self.moved}" if self.after == "move" else ""
        return (f"  - {{input: {self.input}, output: {self.output}, after: {self.after}{move}, links: files, settle_ms: 50, "
                f"retry_timeout_s: 4, rescan_s: 5}}\n")


class ArrivalGenerator:
    """Makes files arrive. Each kind of arrival is a method arrive_NAME(watch, path, pixels); path is relative to the input."""

    def __init__(self, watches, seed):
        self.watches = watches
        self.random = random.Random(seed)
        self.scheduled = []  # (time, action): later changes of files
        self.count = collections.Counter()
        self.arrivals = collections.deque()  # (time, watch, path), the oldest first
        self.kinds = sorted(name for name in dir(self) if name.startswith(PREFIX))

    def add(self, number):
        """Makes the file with this number arrive."""
        watch = self.watches[number % len(self.watches)]
        kind = self.kinds[(number // len(self.watches)) % len(self.kinds)].removeprefix(PREFIX)
        folder = self.random.choice(("", "a/", "a/b/", f"day{number // 500}/"))
        self.count[kind] += 1
        getattr(self, PREFIX + kind)(watch, f"{folder}{kind}-{number}.png", self.pixels())
        self.run_scheduled()

    def pixels(self):
        return [[self.random.randrange(256) for _ in range(COLS)] for _ in range(ROWS)]

    def schedule(self, action, min_delay_s=0):
        """Runs the action between min_delay_s and one second more from now."""
        self.scheduled.append((time.monotonic() + min_delay_s + self.random.random(), action))

    def run_scheduled(self, run_all=False):
        """Runs the actions whose time has come, or all."""
        now = time.monotonic()
        remaining = []
        for due, action in self.scheduled:
            if run_all or due <= now:
                action()
            else:
                remaining.append((due, action))
        self.scheduled = remaining

    def write(self, path, data):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as stream:
            stream.write(data)

    def rename(self, before, after):
        os.makedirs(os.path.dirname(after), exist_ok=True)
        os.rename(before, after)

    def expect(self, watch, relative_path, pixels):
        """Records the expected pixels. Returns the path of the input, whose folder exists."""
        watch.expected[relative_path] = pixels
        self.arrivals.append((time.monotonic(), watch, relative_path))
        path = os.path.join(watch.input, relative_path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def staged(self, watch, data):
        path = os.path.join(watch.stage, f"{self.random.getrandbits(64):x}")
        self.write(path, data)
        return path

    def arrive_written(self, watch, relative_path, pixels):
        self.write(self.expect(watch, relative_path, pixels), png(pixels))

    def arrive_in_parts(self, watch, relative_path, pixels):
        data, path = png(pixels), self.expect(watch, relative_path, pixels)
        with open(path, "wb") as stream:
            for at in range(0, len(data), 40):
                stream.write(data[at : at + 40])
                stream.flush()

    def arrive_moved_in(self, watch, relative_path, pixels):
        os.rename(self.staged(watch, png(pixels)), self.expect(watch, relative_path, pixels))

    def arrive_hard_link(self, watch, relative_path, pixels):
        os.link(self.staged(watch, png(pixels)), self.expect(watch, relative_path, pixels))

    def arrive_symbolic_link(self, watch, relative_path, pixels):
        os.symlink(self.staged(watch, png(pixels)), self.expect(watch, relative_path, pixels))

    def arrive_folder_moved_in(self, watch, relative_path, pixels):
        folder = self.staged(watch, b"")
        os.unlink(folder)
        file_name = os.path.basename(relative_path)
        target = f"moved-{file_name[:-4]}"
        for part in ("", "deeper/", "deeper/still/"):
            pixels = self.pixels()
            self.write(os.path.join(folder, part, file_name), png(pixels))
            self.expect(watch, f"{target}/{part}{file_name}", pixels)
        for root, folders, _ in os.walk(os.path.join(watch.input, target), topdown=False):
            for name in folders:
                os.rmdir(os.path.join(root, name))
        os.rmdir(os.path.join(watch.input, target))
        os.rename(folder, os.path.join(watch.input, target))

    def arrive_tree_at_once(self, watch, relative_path, pixels):
        name = os.path.basename(relative_path)
        self.write(self.expect(watch, f"tree-{name[:-4]}/x/y/z/{name}", pixels), png(pixels))

    def arrive_hidden_first(self, watch, relative_path, pixels):
        path = self.expect(watch, relative_path, pixels)
        hidden = os.path.join(os.path.dirname(path), "." + os.path.basename(path) + ".part")
        self.write(hidden, png(pixels))
        os.rename(hidden, path)

    def arrive_old_times(self, watch, relative_path, pixels):
        path = self.expect(watch, relative_path, pixels)
        self.write(path, png(pixels))
        os.utime(path, (1e9, 1e9))

    def arrive_replaced(self, watch, relative_path, pixels):
        path = self.expect(watch, relative_path, pixels)
        self.write(path, png(self.pixels()))
        self.schedule(lambda: self.rename(self.staged(watch, png(pixels)), path))

    def arrive_rewritten(self, watch, relative_path, pixels):
        path = self.expect(watch, relative_path, pixels)
        self.write(path, png(self.pixels()))
        self.schedule(lambda: self.write(path, png(pixels)))

    def arrive_touched(self, watch, relative_path, pixels):
        path = self.expect(watch, relative_path, pixels)
        self.write(path, png(pixels))

        def touch():
            if os.path.exists(path):
                os.utime(path)
        self.schedule(touch)

    def arrive_recreated(self, watch, relative_path, pixels):
        path = self.expect(watch, relative_path, pixels)
        self.write(path, png(self.pixels()))

        def recreate():
            if os.path.exists(path):
                try:
                    os.unlink(path)
                except FileNotFoundError:
                    pass
            self.write(path, png(pixels))
        self.schedule(recreate)

    def arrive_truncated_then_completed(self, watch, relative_path, pixels):
        data, path = png(pixels), self.expect(watch, relative_path, pixels)
        self.write(path, data[: len(data) // 2])

        def complete():
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "r+b" if os.path.exists(path) else "wb") as stream:
                stream.write(data)
        self.schedule(complete, min_delay_s=1)

    def arrive_truncated(self, watch, relative_path, pixels):
        if self.random.random() < 0.9:  # each truncated file is retried until its retry timeout
            return self.arrive_written(watch, relative_path, pixels)
        data = png(pixels)
        self.write(self.expect(watch, relative_path, None), data[: len(data) // 2])

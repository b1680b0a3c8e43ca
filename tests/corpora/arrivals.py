"""The ways in which files arrive in a watched folder, and what is to come of them."""
import collections
import os
import random
import time

from . import images

ROWS, COLS = 8, 16


def png(samples):
    return images.join(images.png(samples))


class Watch:
    def __init__(self, root, after):
        self.after = after
        self.input, self.output, self.moved = (os.path.join(root, after, name) for name in ("in", "out", "done"))
        self.stage = os.path.join(root, after, "stage")  # on the same file system, not watched
        os.makedirs(self.input)
        os.makedirs(self.stage)
        for folder in (self.input, self.output, self.moved):  # which must stay when they are empty
            os.makedirs(folder, exist_ok=True)
            open(os.path.join(folder, "stays.txt"), "w").close()
        self.expected = {}  # place below input: the pixels of its last version, or None where it is never whole

    def yaml(self):
        move = f", move_to: {self.moved}" if self.after == "move" else ""
        return (f"  - {{input: {self.input}, output: {self.output}, after: {self.after}{move}, links: files, settle_ms: 50, "
                f"retry_timeout_s: 4, rescan_s: 5}}\n")


class Thrower:
    """Makes files arrive; each way is a method way_NAME(watch, place, pixels)."""

    def __init__(self, watches, seed):
        self.watches = watches
        self.random = random.Random(seed)
        self.later = []  # (when, what) that mends cut files
        self.count = collections.Counter()
        self.born = collections.deque()  # (when, watch, place), the oldest first
        self.ways = sorted(name for name in dir(self) if name.startswith("way_"))

    def throw(self, number):
        watch = self.watches[number % len(self.watches)]
        way = self.ways[(number // len(self.watches)) % len(self.ways)]
        folder = self.random.choice(("", "a/", "a/b/", f"day{number // 500}/"))
        self.count[way[4:]] += 1
        getattr(self, way)(watch, f"{folder}{way[4:]}-{number}.png", self.pixels())
        self.mend()

    def pixels(self):
        return [[self.random.randrange(256) for _ in range(COLS)] for _ in range(ROWS)]

    def mend(self, everything=False):
        now = time.monotonic()
        rest = []
        for when, what in self.later:
            if everything or when <= now:
                what()
            else:
                rest.append((when, what))
        self.later = rest

    def write(self, path, data):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as stream:
            stream.write(data)

    def rename(self, before, after):
        os.makedirs(os.path.dirname(after), exist_ok=True)
        os.rename(before, after)

    def expect(self, watch, place, pixels):
        watch.expected[place] = pixels
        self.born.append((time.monotonic(), watch, place))
        path = os.path.join(watch.input, place)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def staged(self, watch, data):
        path = os.path.join(watch.stage, f"{self.random.getrandbits(64):x}")
        self.write(path, data)
        return path

    def way_written(self, watch, place, pixels):
        self.write(self.expect(watch, place, pixels), png(pixels))

    def way_in_parts(self, watch, place, pixels):
        data, path = png(pixels), self.expect(watch, place, pixels)
        with open(path, "wb") as stream:
            for at in range(0, len(data), 40):
                stream.write(data[at : at + 40])
                stream.flush()

    def way_moved_in(self, watch, place, pixels):
        os.rename(self.staged(watch, png(pixels)), self.expect(watch, place, pixels))

    def way_hard_link(self, watch, place, pixels):
        os.link(self.staged(watch, png(pixels)), self.expect(watch, place, pixels))

    def way_symbolic_link(self, watch, place, pixels):
        os.symlink(self.staged(watch, png(pixels)), self.expect(watch, place, pixels))

    def way_folder_moved_in(self, watch, place, pixels):
        folder = self.staged(watch, b"")
        os.unlink(folder)
        name = os.path.basename(place)
        below = f"moved-{name[:-4]}"
        for part in ("", "deeper/", "deeper/still/"):
            pixels = self.pixels()
            self.write(os.path.join(folder, part, name), png(pixels))
            self.expect(watch, f"{below}/{part}{name}", pixels)
        for root, folders, _ in os.walk(os.path.join(watch.input, below), topdown=False):
            for one in folders:
                os.rmdir(os.path.join(root, one))
        os.rmdir(os.path.join(watch.input, below))
        os.rename(folder, os.path.join(watch.input, below))

    def way_tree_at_once(self, watch, place, pixels):
        name = os.path.basename(place)
        self.write(self.expect(watch, f"tree-{name[:-4]}/x/y/z/{name}", pixels), png(pixels))

    def way_hidden_first(self, watch, place, pixels):
        path = self.expect(watch, place, pixels)
        hidden = os.path.join(os.path.dirname(path), "." + os.path.basename(path) + ".part")
        self.write(hidden, png(pixels))
        os.rename(hidden, path)

    def way_old_times(self, watch, place, pixels):
        path = self.expect(watch, place, pixels)
        self.write(path, png(pixels))
        os.utime(path, (1e9, 1e9))

    def way_over_another(self, watch, place, pixels):
        path = self.expect(watch, place, pixels)
        self.write(path, png(self.pixels()))
        self.later.append((time.monotonic() + self.random.random(),
                           lambda: self.rename(self.staged(watch, png(pixels)), path)))

    def way_written_again(self, watch, place, pixels):
        path = self.expect(watch, place, pixels)
        self.write(path, png(self.pixels()))
        self.later.append((time.monotonic() + self.random.random(), lambda: self.write(path, png(pixels))))

    def way_touched(self, watch, place, pixels):
        path = self.expect(watch, place, pixels)
        self.write(path, png(pixels))

        def touch():
            if os.path.exists(path):
                os.utime(path)
        self.later.append((time.monotonic() + self.random.random(), touch))

    def way_made_again(self, watch, place, pixels):
        path = self.expect(watch, place, pixels)
        self.write(path, png(self.pixels()))

        def again():
            if os.path.exists(path):
                try:
                    os.unlink(path)
                except FileNotFoundError:
                    pass
            self.write(path, png(pixels))
        self.later.append((time.monotonic() + self.random.random(), again))

    def way_cut_and_mended(self, watch, place, pixels):
        data, path = png(pixels), self.expect(watch, place, pixels)
        self.write(path, data[: len(data) // 2])

        def mend():
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "r+b" if os.path.exists(path) else "wb") as stream:
                stream.write(data)
        self.later.append((time.monotonic() + 1 + self.random.random(), mend))

    def way_cut(self, watch, place, pixels):
        if self.random.random() < 0.9:  # each of them takes the whole of the patience
            return self.way_written(watch, place, pixels)
        data = png(pixels)
        self.write(self.expect(watch, place, None), data[: len(data) // 2])

"""Files of another user outside the watched folders, and checks that they were not touched."""
import hashlib
import os
import shutil
import stat
import struct

from . import images

ROWS, COLS = 9, 17  # no other image of an attack has this size
SECRET = b"nobody but the owner may know this: "
GOOD, BAD = 6, 2  # files in a folder; attackers use the same names
LONG_AGO_NS = 10**9 * 86400
NAMES = [f"{i}.png" for i in range(GOOD)] + [f"bad-{i}.png" for i in range(BAD)]
SUBFOLDER = "sub"


def samples_of(key):
    return [[(key * 7 + row * 31 + col * 3) % 256 for col in range(COLS)] for row in range(ROWS)]


def content_of(key, name):
    if name.startswith("bad"):
        return SECRET + f"{key} {name}".encode()
    return images.join(images.png(samples_of(key * len(NAMES) + NAMES.index(name))))


def is_secret(data):
    """Returns whether these bytes can only come from a victim's file."""
    size = struct.pack(">II", COLS, ROWS)
    return data.startswith(SECRET) or (data.startswith(images.SIGNATURE) and data[16:24] == size)


def read_unseen(path):
    """Reads a file without changing its access time."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOATIME | os.O_NOFOLLOW)
    try:
        return os.read(descriptor, 1 << 20)
    finally:
        os.close(descriptor)


def list_unseen(folder):
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOATIME | os.O_NOFOLLOW)
    try:
        return os.listdir(descriptor)
    finally:
        os.close(descriptor)


def updates_access_times(folder):
    """Returns whether a read changes the access time of a file. With relatime the first read does."""
    path = os.path.join(folder, "access-time")
    with open(path, "wb") as stream:
        stream.write(b"x")
    os.utime(path, ns=(LONG_AGO_NS, 2 * LONG_AGO_NS))
    with open(path, "rb") as stream:
        stream.read()
    seen = os.stat(path).st_atime_ns != LONG_AGO_NS
    os.unlink(path)
    return seen


class Victim:
    """A folder of another user, with a subfolder. Attackers add links to it to the watched folders."""

    def __init__(self, folder, key, uid, gid):
        self.folder, self.key, self.uid, self.gid = folder, key, uid, gid
        self.make()

    def folders(self):
        return (self.folder, os.path.join(self.folder, SUBFOLDER))

    def files(self):
        return [os.path.join(folder, name) for folder in self.folders() for name in NAMES]

    def make(self):
        for folder in self.folders():
            os.makedirs(folder, exist_ok=True)
            os.chown(folder, self.uid, self.gid)
            os.chmod(folder, 0o2770)
        for path in self.files():
            with open(path, "wb") as stream:
                stream.write(content_of(self.key, os.path.basename(path)))
            os.chown(path, self.uid, self.gid)
            os.chmod(path, 0o660)
        self.remember()

    def remember(self):
        for path in (*self.folders(), *self.files()):
            os.utime(path, ns=(LONG_AGO_NS, 2 * LONG_AGO_NS))
        self.known = {path: (os.lstat(path).st_ino, 2 * LONG_AGO_NS) for path in (*self.folders(), *self.files())}

    def hashes(self):
        return {hashlib.sha256(content_of(self.key, name)).hexdigest() for name in NAMES}

    def touched(self, sees_reads):
        """Returns [(kind, path, (inode, mtime_ns) or None)]; kinds: listed, read, deleted, changed, created."""
        found = []
        for folder in self.folders():
            if not os.path.isdir(folder) or os.path.islink(folder):
                return [("deleted", folder, self.known[folder])]
            if sees_reads and os.lstat(folder).st_atime_ns != LONG_AGO_NS:
                found.append(("listed", folder, None))
            known = {*NAMES, SUBFOLDER} if folder == self.folder else set(NAMES)
            found += [("created", os.path.join(folder, name), None) for name in set(list_unseen(folder)) - known]
        for path in self.files():
            try:
                status = os.lstat(path)
            except FileNotFoundError:
                found.append(("deleted", path, self.known[path]))
                continue
            if not stat.S_ISREG(status.st_mode) or (status.st_ino, status.st_mtime_ns) != self.known[path]:
                found.append(("changed", path, None))
            elif read_unseen(path) != content_of(self.key, os.path.basename(path)):
                found.append(("changed", path, None))
            elif sees_reads and status.st_atime_ns != LONG_AGO_NS:
                found.append(("read", path, None))
        return found

    def restore(self):
        """Restores the folder for the next attack."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.make()

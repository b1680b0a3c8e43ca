"""Nodes of a test on one machine: each has a network of its own, which can be cut, and a small disk of its own, which can be full. Needs root and ip."""
import os
import shutil
import subprocess

DISK_MB = 64


def missing_nodes():
    """Returns why there can be no such nodes here; "" if there can."""
    if os.geteuid() != 0:
        return "not root"
    missing = [program for program in ("ip", "mount", "umount") if not shutil.which(program)]
    if missing:
        return f"not installed: {', '.join(missing)}"
    name = f"eck{os.getpid() % 100000}"
    can_add = subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False).returncode == 0
    if can_add:
        subprocess.run(["ip", "netns", "del", name], check=True)
    return "" if can_add else "network namespaces cannot be made here"


def run(*command):
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)


class Node:
    """`folder`: where its disk is mounted. It is gone after end()."""

    def __init__(self, number, folder):
        self.disk = folder
        self.name = f"eck{os.getpid() % 100000}n{number}"
        self.host = f"10.213.{number}.1"  # address of this machine for the node
        os.makedirs(folder)
        run("mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "eckart-test", folder)
        run("ip", "netns", "add", self.name)
        run("ip", "link", "add", self.name, "type", "veth", "peer", "name", "eth0", "netns", self.name)
        run("ip", "addr", "add", f"{self.host}/30", "dev", self.name)
        run("ip", "-n", self.name, "addr", "add", f"10.213.{number}.2/30", "dev", "eth0")
        run("ip", "-n", self.name, "link", "set", "eth0", "up")
        self.connect()

    def command(self, *command):
        """The command on this node, in the same process."""
        return ["ip", "netns", "exec", self.name, *command]

    def cut(self):
        run("ip", "link", "set", self.name, "down")

    def connect(self):
        run("ip", "link", "set", self.name, "up")

    def fill_disk(self):
        with open(os.path.join(self.disk, "filler"), "wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 65536)
            except OSError:  # it is full
                pass

    def free_disk(self):
        os.unlink(os.path.join(self.disk, "filler"))

    def end(self):
        run("ip", "netns", "del", self.name)  # with its link
        run("umount", self.disk)
        os.rmdir(self.disk)

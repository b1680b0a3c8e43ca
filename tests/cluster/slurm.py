"""A Slurm of its own for a test: munged, slurmctld and several slurmd on this machine, in a folder, without systemd."""
import glob
import os
import secrets
import shutil
import signal
import socket
import subprocess
import time

from cluster.ports import free_ports

CORES_PER_NODE = 2
START_S = 60
RELEASE_S = 5
FAULTS = {"eckart": 8, "stop": 4, "script": 2, "requeue": 2, "slurmd": 2, "slurmctld": 1}  # with their weights
CONFIGURATION = """ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=1,sched_interval=1,sched_min_interval=100000{scheduler}
ReturnToService=2
SlurmctldTimeout=30
SlurmdTimeout=30
KillWait=5
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MailProg=/bin/true
MpiDefault=none
SwitchType=switch/none
"""
PROLOG = """Prolog={prolog}
PrologFlags=Alloc,DeferBatch
"""


def missing_slurm():
    """Returns why a Slurm cannot be started here; "" if it can."""
    if os.geteuid() != 0:
        return "needs root"
    missing = [name for name in ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol") if not shutil.which(name)]
    return f"not installed: {', '.join(missing)}" if missing else ""


class Slurm:
    """Daemons that were killed are started again by repair(). Ends all of them and their tasks at the end."""

    def __init__(self, folder, nodes, random, prolog="", gpus=0):
        """`prolog`: the file of a prolog, configured as docs/how-to/slurm.md says. `gpus`: of each node; they are files."""
        self.folder, self.random = folder, random
        self.nodes = [f"n{index}" for index in range(1, nodes + 1)]
        self.environment = {**os.environ, "SLURM_CONF": os.path.join(folder, "slurm.conf")}
        self.daemons = {}  # command → process
        self.dead_until = {}  # command → when it is started again
        self.stopped = {}  # process id → when it goes on
        self.next_release = 0.0
        self.released = []  # tasks that were held
        os.makedirs(os.path.join(folder, "state"))
        self.log = open(os.path.join(folder, "log"), "ab")
        key = os.path.join(folder, "munge.key")
        with open(key, "wb") as file:
            file.write(secrets.token_bytes(128))
        os.chmod(key, 0o400)
        port, *node_ports = free_ports(nodes + 1)
        host = socket.gethostname()
        with open(self.environment["SLURM_CONF"], "w", encoding="utf-8") as file:
            file.write(CONFIGURATION.format(folder=folder, host=host, port=port, scheduler=",nohold_on_prolog_fail" if prolog else ""))
            file.write(PROLOG.format(prolog=prolog) if prolog else "")
            file.write("GresTypes=gpu\n" if gpus else "")
            gres = f" Gres=gpu:{gpus}" if gpus else ""
            for node, node_port in zip(self.nodes, node_ports):
                file.write(f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={node_port} CPUs={CORES_PER_NODE} RealMemory=1000{gres}\n")
            file.write(f"PartitionName=main Nodes={','.join(self.nodes)} Default=YES MaxTime=INFINITE State=UP\n")
        if gpus:
            self._make_gpus(gpus)
        self.munged = ["munged", "--foreground", "--force", f"--key-file={key}", f"--socket={folder}/munge.socket", f"--pid-file={folder}/munged.pid",
                       f"--log-file={folder}/munged.log", f"--seed-file={folder}/munged.seed"]
        self.controller = ["slurmctld", "-D"]
        self.node_commands = [["slurmd", "-D", "-N", node] for node in self.nodes]

    def _make_gpus(self, count):
        for index in range(count):
            os.symlink("/dev/null", os.path.join(self.folder, f"gpu{index}"))  # Slurm gives jobs the numbers of devices only
        with open(os.path.join(self.folder, "gres.conf"), "w", encoding="utf-8") as file:
            file.write(f"Name=gpu File={self.folder}/gpu[0-{count - 1}]\n")

    def __enter__(self):
        self._start(self.munged)
        self._wait(lambda: os.path.exists(f"{self.folder}/munge.socket"), "munged")
        for command in [self.controller, *self.node_commands]:
            self._start(command)
        self._wait(lambda: self.ask("sinfo", "--noheader", "--format=%T").split() == ["idle"], "all nodes")
        return self

    def __exit__(self, *_):
        self.ask("scancel", "--quiet", "--user=root")
        for process in self.tasks():
            self._signal(process, signal.SIGKILL)
        for process in reversed(self.daemons.values()):
            process.kill()
            process.wait()
        for line in glob.glob(f"{self.folder}/spool-*/*"):  # what the steps wait for
            if os.path.isfile(line):
                os.unlink(line)
        for process in self._processes("slurmstepd"):
            self._signal(process, signal.SIGKILL)

    def _start(self, command):
        self.daemons[tuple(command)] = subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)

    def _wait(self, condition, what):
        deadline = time.monotonic() + START_S
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(f"{what}: not ready after {START_S} s; logs: {self.folder}")
            time.sleep(0.1)

    def ask(self, *command):
        """Returns stdout of a command of Slurm; what it prints if it fails goes to the log."""
        try:
            return subprocess.run(command, env=self.environment, text=True, stdout=subprocess.PIPE, stderr=self.log, check=False, timeout=30).stdout
        except subprocess.TimeoutExpired:
            return ""

    def _processes(self, text):
        """The processes of this Slurm whose command line contains the text: they have its configuration in their environment."""
        found, mark = [], f"SLURM_CONF={self.environment['SLURM_CONF']}".encode()
        for entry in os.listdir("/proc"):
            try:
                with open(f"/proc/{entry}/cmdline", "rb") as file:
                    line = file.read().replace(b"\0", b" ").decode(errors="replace")
                if entry.isdigit() and text in line:
                    with open(f"/proc/{entry}/environ", "rb") as file:
                        if mark in file.read().split(b"\0"):
                            found.append(int(entry))
            except OSError:  # it has ended
                pass
        return found

    def tasks(self):
        return self._processes("run --shard")

    @staticmethod
    def _signal(process, number):
        try:
            os.kill(process, number)
        except ProcessLookupError:
            pass

    def repair(self):
        now = time.monotonic()
        for command in [command for command, until in self.dead_until.items() if until <= now]:
            del self.dead_until[command]
            self._start(command)
        if now >= self.next_release and tuple(self.controller) not in self.dead_until:
            self.next_release = now + RELEASE_S
            self._start_waiting()
        for process in [process for process, until in self.stopped.items() if until <= now]:
            del self.stopped[process]
            self._signal(process, signal.SIGCONT)

    def _start_waiting(self):
        """Slurm holds a task whose start failed, because slurmd was killed meanwhile, and starts a requeued one two minutes later."""
        for line in self.ask("squeue", "--noheader", "--states=PENDING", "--array", "--format=%i %r").splitlines():
            if "held" in line:
                self.ask("scontrol", "release", line.split()[0])
                self.released.append(line)
            elif "BeginTime" in line:
                self.ask("scontrol", "update", f"JobId={line.split()[0]}", "StartTime=now")

    def _kill_daemon(self, command):
        command = tuple(command)
        if command in self.dead_until:
            return ""
        self.daemons[command].kill()
        self.daemons[command].wait()
        self.dead_until[command] = time.monotonic() + self.random.uniform(0.5, 3)
        return f"kill-{command[0]} {' '.join(command[2:])}"

    def fault(self):
        """Returns what it did; "" if there was nothing to do it to."""
        kind = self.random.choices(list(FAULTS), list(FAULTS.values()))[0]
        if kind == "slurmctld":
            return self._kill_daemon(self.controller)
        if kind == "slurmd":
            return self._kill_daemon(self.random.choice(self.node_commands))
        if kind == "requeue" and tuple(self.controller) in self.dead_until:
            return ""
        if kind == "requeue":
            running = self.ask("squeue", "--noheader", "--states=RUNNING", "--array", "--format=%i").split()
            if not running:
                return ""
            task = self.random.choice(running)
            self.ask("scontrol", "requeue", task)
            return f"requeue {task}"
        processes = self._processes("slurm_script") if kind == "script" else [process for process in self.tasks() if process not in self.stopped]
        if not processes:
            return ""
        process = self.random.choice(processes)
        self._signal(process, signal.SIGSTOP if kind == "stop" else signal.SIGKILL)
        if kind == "stop":
            self.stopped[process] = time.monotonic() + self.random.uniform(1, 8)
        return f"{'stop' if kind == 'stop' else 'kill-' + kind} {process}"

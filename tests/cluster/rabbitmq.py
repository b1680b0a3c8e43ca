"""A RabbitMQ of its own for a test: server and epmd on this machine, in a folder, with ports, node name and cookie of its own."""
import ctypes
import os
import signal
import socket
import subprocess
import time

from cluster.ports import free_ports

# Not /usr/sbin/rabbitmq-server, which changes the user.
SERVER = "/usr/lib/rabbitmq/bin/rabbitmq-server"
EPMD = "/usr/bin/epmd"
START_S = 120
PR_SET_PDEATHSIG = 1


def missing_rabbitmq():
    """Returns why a broker cannot be started here; "" if it can."""
    missing = [program for program in (SERVER, EPMD) if not os.access(program, os.X_OK)]
    return f"not installed: {', '.join(missing)} (Debian package rabbitmq-server)" if missing else ""


def accepts_connections(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True
    except OSError:
        return False


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Server:
    """One server of a broker. `peers`: the names of all, to which this object adds its own."""

    def __init__(self, folder, epmd_port, log, peers):
        self.folder, self.log = folder, log
        os.makedirs(folder)
        self.port, distribution = free_ports(2)
        self.name = f"eckart-{self.port}@localhost"
        self.peers = peers
        peers.append(self.name)
        self.environment = {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": os.path.dirname(folder), "ERL_EPMD_PORT": str(epmd_port), "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODENAME": self.name, "RABBITMQ_NODE_IP_ADDRESS": "0.0.0.0", "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(distribution), "RABBITMQ_MNESIA_BASE": f"{folder}/data", "RABBITMQ_LOG_BASE": f"{folder}/log",
            "RABBITMQ_CONF_ENV_FILE": "/dev/null", "RABBITMQ_CONFIG_FILE": f"{folder}/rabbitmq", "RABBITMQ_ENABLED_PLUGINS_FILE": f"{folder}/plugins",
            "RABBITMQ_ALLOW_INPUT": "1",  # the shell becomes the server, so that its process is known
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-start_epmd false -noinput +S 2:2"}
        self.process = None

    def start(self):
        with open(f"{self.folder}/plugins", "w", encoding="utf-8") as file:
            file.write("[].\n")
        with open(f"{self.folder}/rabbitmq.conf", "w", encoding="utf-8") as file:
            file.write("loopback_users = none\n")  # nodes have other addresses
            file.writelines(f"cluster_formation.classic_config.nodes.{index} = {name}\n" for index, name in enumerate(self.peers, 1))
        self.process = run([SERVER], self.environment, self.log)

    def is_ready(self):
        if self.process.poll() is not None:
            raise TimeoutError(f"RabbitMQ ended; logs: {self.folder}")
        return accepts_connections(self.port)

    def kill(self):
        """As a power failure."""
        self.process.kill()
        self.process.wait()
        self.process = None


def run(command, environment, log):
    return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, preexec_fn=die_with_parent)


def wait_until(is_ready, what):
    deadline = time.monotonic() + START_S
    while not is_ready():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what} does not start")
        time.sleep(0.1)


class RabbitMq:
    """A broker of some servers, which can be killed and started again with the same data. All processes end with this object."""

    def __init__(self, folder, servers=1):
        os.makedirs(folder, exist_ok=True)
        self.log = open(f"{folder}/server.log", "ab")
        self.epmd_port, = free_ports(1)
        self.epmd, peers = None, []
        self.servers = [Server(f"{folder}/{number}", self.epmd_port, self.log, peers) for number in range(1, servers + 1)]
        self.repair_at = {}  # server → when it starts again

    @property
    def url(self):
        return self.url_at("127.0.0.1")

    def url_at(self, host):
        return "amqp://" + ",".join(f"{host}:{server.port}" for server in self.servers)

    def __enter__(self):
        epmd_environment = {"ERL_EPMD_ADDRESS": "127.0.0.1"}
        self.epmd = run([EPMD, "-port", str(self.epmd_port)], epmd_environment, self.log)
        wait_until(lambda: accepts_connections(self.epmd_port), "epmd")
        for server in self.servers:
            server.start()
        wait_until(self._are_ready, "RabbitMQ")
        return self

    def __exit__(self, *_):
        for process in [*(server.process for server in self.servers), self.epmd]:
            if process:
                process.kill()
                process.wait()

    def _are_ready(self):
        return all(server.is_ready() for server in self.servers)

    def break_one(self, random, seconds):
        """Kills a server. If it is the only one, it is started again at once; otherwise after some seconds, and no other one is killed meanwhile.
        Returns what it did."""
        if self.repair_at or not self._are_ready():
            return ""
        server = random.choice(self.servers)
        if len(self.servers) > 1:
            self.break_server(server, seconds)
            return f"broker {self.servers.index(server) + 1} killed"
        server.kill()
        server.start()
        wait_until(server.is_ready, "RabbitMQ")
        return "broker killed and started"

    def break_server(self, server, seconds):
        """Kills it. step() starts it again after that time."""
        server.kill()
        self.repair_at[server] = time.monotonic() + seconds

    def wait_until_whole(self):
        """Until all servers run."""
        for server in self.repair_at:
            self.repair_at[server] = 0
        self.step()
        wait_until(self._are_ready, "RabbitMQ")

    def step(self):
        for server in [server for server, when in self.repair_at.items() if when <= time.monotonic()]:
            del self.repair_at[server]
            server.start()

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


class RabbitMq:
    """A broker that can be killed and started again with the same data. Both processes end with this object."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        self.port, distribution, self.epmd_port = free_ports(3)
        with open(f"{folder}/plugins", "w", encoding="utf-8") as file:
            file.write("[].\n")
        with open(f"{folder}/rabbitmq.conf", "w", encoding="utf-8") as file:
            file.write("loopback_users = none\n")  # nodes have other addresses
        self.log = open(f"{folder}/server.log", "ab")
        self.environment = {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": folder, "ERL_EPMD_PORT": str(self.epmd_port), "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODENAME": f"eckart-{self.port}@localhost", "RABBITMQ_NODE_IP_ADDRESS": "0.0.0.0", "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(distribution), "RABBITMQ_MNESIA_BASE": f"{folder}/data", "RABBITMQ_LOG_BASE": f"{folder}/log",
            "RABBITMQ_CONF_ENV_FILE": "/dev/null", "RABBITMQ_CONFIG_FILE": f"{folder}/rabbitmq", "RABBITMQ_ENABLED_PLUGINS_FILE": f"{folder}/plugins",
            "RABBITMQ_ALLOW_INPUT": "1",  # the shell becomes the server, so that its process is known
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-start_epmd false -noinput +S 2:2"}
        self.epmd = self.server = None

    @property
    def url(self):
        return self.url_at("127.0.0.1")

    def url_at(self, host):
        return f"amqp://{host}:{self.port}"

    def __enter__(self):
        self.epmd = self._run([EPMD, "-port", str(self.epmd_port)])
        self._wait(self.epmd, self.epmd_port)
        self.start()
        return self

    def __exit__(self, *_):
        for process in (self.server, self.epmd):
            if process:
                process.kill()
                process.wait()

    def _run(self, command):
        return subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, start_new_session=True,
                                preexec_fn=die_with_parent)

    def _wait(self, process, port):
        deadline = time.monotonic() + START_S
        while not accepts_connections(port):
            if process.poll() is not None or time.monotonic() > deadline:
                raise TimeoutError(f"RabbitMQ does not start; log: {self.folder}/server.log")
            time.sleep(0.1)

    def start(self):
        self.server = self._run([SERVER])
        self._wait(self.server, self.port)

    def kill(self):
        """As a power failure."""
        self.server.kill()
        self.server.wait()

    def signal(self, number):
        self.server.send_signal(number)

"""Commands of the documents that the test does not run: a regular expression for the start of the command, and the reason.

A pattern must not match the commands of a how-to by accident: it begins with the command and its first arguments.
"""

NOT_RUN = [
    (r"tools/(quickstart|test|check-code|make-packages|package-test|install-packages)\b", "installs packages and builds"),
    (r"cmake |ctest ", "builds"),
    (r"tests/docs/check_docs.py ", "is a test of ctest"),
    (r"tests/numerics/run ", "is the test `numerics` of ctest"),
    (r"(sudo |apt |usermod |install |setfacl |editor |sysctl |systemd-sysusers )", "changes the machine, as root"),
    (r"(systemctl|journalctl|systemd-run|systemd-analyze) ", "needs systemd and the installed service"),
    (r"eckart .*--backend (checked|cuda)", "needs a GPU"),
    (r"eckart plan /var/log/eckart/throughput", "needs the log of the installed service"),
    (r"eckart slurm /data/|eckart slurm .* --wait|eckart plan results$", "needs Slurm, or the end of a job"),
    (r"eckart (enqueue|worker|status) .*--amqp", "needs a broker; the test `cli_broker_test` starts one"),
    (r"rabbitmqctl ", "needs a broker"),
    (r"(docker|podman) ", "needs a container engine and base images"),
    (r"jupyter-notebook ", "opens a browser; the test `docs_notebook` runs the notebook"),
    (r"eckart bench streams --quick$", "takes half a minute on all cores; the test `docs_notebook` runs it"),
    (r"eckart bench kernels --quick --peers", "takes half a minute; peers_test runs the libraries"),
    (r"export ", "changes the shell of the reader"),
]

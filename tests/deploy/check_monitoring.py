#!/usr/bin/env python3
"""Compares the dashboard and the alerts with docs/reference/metrics.md and deploy/README.md.

  check_monitoring.py SOURCE_FOLDER              checks names, labels, panels and alerts
  check_monitoring.py SOURCE_FOLDER --promtool   runs promtool: syntax, and the tests of the alerts
Exit codes: 0 all checks passed; 1 a check failed or wrong usage; 77 promtool is missing.
"""
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

METRIC = r"\b(?:eckart|process)_[a-z0-9_]+"
COMMON_LABELS = {"instance", "job", "le"}


def documented_metrics(source):
    """Returns the labels of each metric. The series of a histogram have separate names."""
    metrics = {}
    page = (source / "docs/reference/metrics.md").read_text()
    for name, kind, labels in re.findall(rf"^\| `({METRIC})` \| (\w+) \| (.*?) ?\|", page, re.M):
        suffixes = ["_bucket", "_sum", "_count"] if kind == "histogram" else [""]
        for suffix in suffixes:
            metrics[name + suffix] = set(re.findall(r"`(\w+)`", labels)) | COMMON_LABELS
    return metrics


def panels_of(dashboard):
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def expressions_of(dashboard):
    for panel in panels_of(dashboard):
        for target in panel["targets"]:
            yield f"{panel['title']} {target['refId']}", target["expr"]
    for variable in dashboard["templating"]["list"]:
        yield variable["name"], variable.get("definition", "")


def rules_of(text):
    """Yields (alert, expression). Parses without YAML: `expr` must follow `alert`, and `labels` or `for` must follow `expr`."""
    for block in re.split(r"- alert: ", text)[1:]:
        expression = re.search(r"expr:(.*?)\n\s*(?:for|labels):", block, re.S).group(1)
        yield block.split("\n")[0].strip(), re.sub(r"^\s*>-", "", expression).strip()


def name_errors(where, expression, metrics):
    used = re.findall(METRIC, expression)
    allowed = COMMON_LABELS.union(*(metrics.get(name, set()) for name in used))
    for name in used:
        if name not in metrics:
            yield f"{where}: docs/reference/metrics.md has no {name}"
    for name, selector in re.findall(rf"({METRIC})\{{(.*?)\}}", expression):
        for label in re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", selector):
            if label not in metrics.get(name, {label}):
                yield f"{where}: {name} has no label {label}"
    for labels in re.findall(r"\b(?:by|on) \((.*?)\)", expression):
        for label in filter(None, re.split(r"[,\s]+", labels)):
            if label not in allowed:
                yield f"{where}: none of its metrics has a label {label}"


def panel_errors(dashboard):
    ids = [panel["id"] for panel in dashboard["panels"]]
    if len(ids) != len(set(ids)):
        yield "dashboard: two panels have the same id"
    occupied = {}
    for panel in dashboard["panels"]:
        grid = panel["gridPos"]
        for x in range(grid["x"], grid["x"] + grid["w"]):
            for y in range(grid["y"], grid["y"] + grid["h"]):
                if x >= 24 or (x, y) in occupied:
                    yield f"dashboard: {panel['title']} overlaps {occupied.get((x, y), 'the edge')}"
                    return
                occupied[x, y] = panel["title"]


def alert_errors(source, alerts):
    in_page = set(re.findall(r"^\| `(Eckart\w+)`", (source / "deploy/README.md").read_text(), re.M))
    tested = set(re.findall(r"alertname: (\w+)", (source / "tests/deploy/eckart.rules.test.yml").read_text()))
    for alert in sorted(in_page ^ alerts):
        yield f"{alert}: must be in both deploy/README.md and eckart.rules.yml"
    for alert in sorted(alerts - tested):
        yield f"{alert}: has no test"


def check(source, dashboard, rules):
    metrics = documented_metrics(source)
    if len(metrics) < 30:
        yield f"docs/reference/metrics.md: only {len(metrics)} metrics found"
    for where, expression in [*expressions_of(dashboard), *rules]:
        yield from name_errors(where, expression, metrics)
    yield from panel_errors(dashboard)
    yield from alert_errors(source, {alert for alert, _ in rules})


def promtool(source, dashboard):
    """Runs promtool. Checks the expressions of the dashboard as rules, with values for the variables of Grafana."""
    with tempfile.TemporaryDirectory() as folder:
        for file in [source / "deploy/prometheus/eckart.rules.yml", source / "deploy/prometheus/scrape.yml",
                     source / "tests/deploy/eckart.rules.test.yml"]:
            shutil.copy(file, folder)
        filled = [expression.replace("$__rate_interval", "5m").replace("$instance", ".*")
                  for panel in panels_of(dashboard) for expression in (target["expr"] for target in panel["targets"])]
        rules = [{"record": f"panel:{i}", "expr": expression} for i, expression in enumerate(filled)]
        (Path(folder) / "panels.yml").write_text(json.dumps({"groups": [{"name": "panels", "rules": rules}]}))
        for command in [["check", "rules", "eckart.rules.yml", "panels.yml"], ["check", "config", "scrape.yml"],
                        ["test", "rules", "eckart.rules.test.yml"]]:
            subprocess.run(["promtool", *command], cwd=folder, check=True)


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--promtool"]):
        sys.exit(__doc__)
    source = Path(sys.argv[1])
    dashboard = json.loads((source / "deploy/grafana/eckart.json").read_text())
    if sys.argv[2:] == ["--promtool"]:
        if not shutil.which("promtool"):
            print("skipped: promtool not found (Debian package prometheus)")
            sys.exit(77)
        promtool(source, dashboard)
        return
    rules = list(rules_of((source / "deploy/prometheus/eckart.rules.yml").read_text()))
    errors = list(check(source, dashboard, rules))
    print("\n".join(errors) or f"{len(rules)} alerts and {len(panels_of(dashboard))} panels: no errors")
    sys.exit(1 if errors else 0)


main()

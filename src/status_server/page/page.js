// Requests the status each second and shows it. While the server does not answer, the last values are shown grayed out.
"use strict";

const kVisiblePollInterval_ms = 1000;  // between requests while the page is visible
const kRequestTimeout_ms = 5000;  // of one request
const kHiddenPollInterval_ms = 10000;  // between requests while the page is hidden

let samples = new Samples();
let run = null;
let lastAnswer_unix_s = null;
let timer = null;
let isPolling = false;

const gpus = () => samples.gpus ?? [];
const gpuLines = (prefix) => () => gpus().map((uuid, i) => (
  {name: gpus().length === 1 ? "GPU" : `GPU ${i}`, column: `${prefix}/${uuid}`, color: `line${i % 5}`}));
const lines = (list) => () => list;

if (kHasCharts) {
  new Chart("rate_chart", {title: "Images a second", format: number, formatTick: tick, lines: lines([
    {name: "done", column: "images_per_s", color: "compute", fill: "area"},
    {name: "failed", column: "failed_per_s", color: "failed"},
  ])});
  new Chart("stages_chart", {title: "Busy, each second", format: percent, axisMax: 1,
    lines: lines(kStages.map((name) => ({name, column: `stages/${name}`, color: name})))});
  new Chart("queues_chart", {title: "Full, each second", format: percent, axisMax: 1,
    lines: lines(kQueues.map((name) => ({name, column: `queues/${name}`, color: name})))});
  new Chart("cpu_chart", {title: "Cores busy, each second", format: percent, axisMax: 1,
    lines: lines([{name: "of available cores", column: "cores_busy", color: "compute", fill: "area"}])});
  new Chart("gpu_busy_chart", {title: "Busy, each second", format: percent, axisMax: 1, lines: gpuLines("busy")});
  new Chart("gpu_power_chart", {title: "Power, each second", format: (value) => `${number(value)} W`,
    formatTick: (value) => `${tick(value)} W`, lines: gpuLines("power")});
} else {
  show("no_charts", true);
  setClass(document.body, "no_charts");
}

function applyStatus(status) {
  const isNewRun = status.run?.run !== run;  // a new run, or a reloaded service
  if (isNewRun || status.now_s < samples.last_s) {  // or the clock of the server was set back
    run = status.run?.run;
    samples = new Samples();
  }
  samples.add(status.history ?? {}, status.interval_s || 1);
  samples.gpus = (status.last?.gpus ?? []).map((gpu) => gpu.uuid);
  show("main", true);
  showAll(status);
  for (const chart of charts) chart.update(samples);
  const rate = number(status.last?.images_per_s);
  document.title = `${status.ready ? "" : "(not ready) "}${rate}/s · ${status.run?.host ?? ""} · eckart`;
}

function showConnected() {
  lastAnswer_unix_s = Date.now() / 1000;
  show("connection", false);
  byId("main").classList.remove("stale");
}

function showDisconnected(why) {
  const since = lastAnswer_unix_s === null ? "" : ` since ${clock(lastAnswer_unix_s)}; the values below are from then`;
  setText(byId("connection"), `eckart does not answer${since}. (${why}) Retrying …`);
  show("connection", true);
  byId("main").classList.add("stale");
  setText(byId("state"), "no answer");
  setClass(byId("state"), "pill");
  document.title = "(no answer) eckart";
}

async function fetchStatus() {
  const since = samples.last_s;
  const answer = await fetch(`status.json?since=${since}`, {cache: "no-store", signal: AbortSignal.timeout(kRequestTimeout_ms)});
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
  return answer.json();
}

async function pollOnce() {
  if (isPolling) return;
  isPolling = true;
  clearTimeout(timer);
  try {
    const status = await fetchStatus().catch((error) => showDisconnected(error.message));
    if (status) {
      showConnected();
      applyStatus(status);
    }
  } finally {
    isPolling = false;
    timer = setTimeout(pollOnce, document.hidden ? kHiddenPollInterval_ms : kVisiblePollInterval_ms);
  }
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) pollOnce();
});
pollOnce();

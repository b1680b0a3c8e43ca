// The sections of the page. Each shows a part of `status`, the content of status.json.
"use strict";

const kStages = ["source", "load", "batch", "compute", "write"];
const kQueues = ["found", "loaded", "batches", "finished"];

const numberCell = (text, name = "") => ({text, name: `number ${name}`.trim()});
/** The interval that `last` covers. */
const intervalText = ({interval_s: s}) => `over ${known(s) && s < 0.95 ? number(s) : count(s)} s`;
const share = (part, limit) => (known(part) && limit > 0 ? part / limit : null);

function showHeader({run, total, ready, not_ready, now_s}) {
  setText(byId("host"), run.host ?? "");
  const solver = run.device ? `${run.backend} on ${run.device}` : run.backend ?? "no backend yet";
  const rank = run.settings?.rank;
  setText(byId("what"), [
    run.command === "watch" ? "watches folders" : "processes given inputs", solver, rank ? `rank ${rank}` : "",
  ].filter(Boolean).join(" · "));
  setText(byId("state"), ready ? "ready" : "not ready");
  setClass(byId("state"), ready ? "pill good" : "pill bad");
  setText(byId("uptime"), `up ${longDuration(total.elapsed_s)}`);
  setText(byId("at"), known(now_s) ? clock(now_s) : "");
  setText(byId("version"), run.version ? `eckart ${run.version}` : "");

  const reasons = not_ready ?? [];
  show("not_ready", !ready && reasons.length > 0);
  const list = byId("not_ready").querySelector("ul");
  setCount(list, reasons.length, () => makeElement("li"));
  reasons.forEach((reason, i) => setText(list.children[i], reason));
}

function showTiles({total, last, watches}) {
  for (const element of document.querySelectorAll(".over")) setText(element, intervalText(last));
  setText(byId("rate"), number(last.images_per_s));
  const flow = [
    scaled(last.pixels_per_s, "pixel/s"), `${bytes(last.input_bytes_per_s)}/s in`, `${bytes(last.output_bytes_per_s)}/s out`];
  setText(byId("rate_more"), flow.join(", "));
  setText(byId("done"), count(total.done));
  setText(byId("done_more"), `${number(share(total.done, total.elapsed_s))} a second since the start` +
    (total.skipped ? `; ${count(total.skipped)} skipped` : ""));
  setText(byId("failed"), count(total.failed));
  setClass(byId("failed"), total.failed ? "bad_text" : "");
  setText(byId("failed_more"), total.failed ? `${percent(share(total.failed, total.done + total.failed))} of all` : "");

  const waiting = watches?.length ? watches.reduce((sum, watch) => sum + (watch.waiting ?? 0), 0) : null;
  setText(byId("waiting_name"), waiting === null ? "In progress" : "Waiting");
  setText(byId("waiting"), count(waiting ?? total.unfinished));
  setText(byId("waiting_more"), waiting === null ? `of ${count(total.found)} found` : `and ${count(total.unfinished)} in progress`);
  setText(byId("bottleneck"), last.bottleneck?.text ?? "Nothing is saturated.");
}

function showStages({last}) {
  setRows("stages", (last.stages ?? []).map((stage) => {
    const thread_s = stage.busy_s + stage.waiting_for_input_s + stage.blocked_s;
    const [busy, input, blocked] = ["busy_s", "waiting_for_input_s", "blocked_s"].map((key) => share(stage[key], thread_s));
    return [
      {text: `${stage.name} × ${count(stage.workers)}`, name: `dot ${stage.name}`},
      {bar: [{share: busy, name: "busy"}, {share: input, name: "input"}, {share: blocked, name: "blocked"}], name: "bar_column"},
      numberCell(percent(busy)), numberCell(percent(input)), numberCell(percent(blocked)), numberCell(percent(share(stage.cpu_s, thread_s)), "wide"),
    ];
  }));
}

function showQueues({last}) {
  setRows("queues", (last.queues ?? []).map((queue) => [
    {text: queue.name, name: `dot ${queue.name}`},
    {bar: [{share: share(queue.images, queue.capacity), name: queue.name}], name: "bar_column"},
    numberCell(count(queue.images)), numberCell(count(queue.capacity)),
  ]));
}

/** Latency of an image in each stage and queue, in the order of the pipeline. */
function showLatency({last, total}) {
  const find = (line, group, name) => (line[group] ?? []).find((item) => item.name === name);
  const rows = [["end to end", (line) => line.end_to_end_s]];
  kStages.forEach((name, i) => {
    rows.push([`in ${name}`, (line) => find(line, "stages", name)?.service_s]);
    const queue = kQueues[i];
    if (queue) rows.push([`queue ${queue}`, (line) => find(line, "queues", queue)?.wait_s]);
  });
  setRows("latency", rows.filter(([, of]) => of(last) || of(total)).map(([name, of]) => {
    const cells = (line) => ["p50", "p90", "p99"].map((key) => duration(of(line)?.count ? of(line)[key] : null));
    const [first, ...others] = cells(total);
    return [name, ...cells(last).map((text) => numberCell(text)), numberCell(first, "since"), ...others.map((text) => numberCell(text))]
      .map((cell, i) => (i === 2 || i === 5 ? {...cell, name: "number p90"} : cell));
  }));
}

function showFailures({total, recent_failures, now_s}) {
  const reasons = Object.entries(total.failures ?? {}).filter(([, images]) => images > 0).sort((a, b) => b[1] - a[1]);
  byId("reasons").hidden = reasons.length === 0;
  show("no_failures", reasons.length === 0);
  setRows("reasons", reasons.map(([reason, images]) => [
    reason, {bar: [{share: share(images, total.failed), name: "failed"}], name: "bar_column"}, numberCell(count(images)),
  ]));
  const recent = recent_failures ?? [];
  show("recent_section", recent.length > 0);
  setRows("recent", recent.map(({time, input, stage, reason, detail}) => [
    {text: localTime(time, now_s), title: time ?? "", name: "time"}, {text: input ?? "", name: "path"}, stage ?? "", reason ?? "",
    {text: detail ?? "", name: "detail muted"},
  ]));
}

/** Numbers of files by extension: "10 .tif, 3 .heic". */
const unreadFiles = (files) => Object.entries(files ?? {}).map(([extension, amount]) => `${count(amount)} ${extension}`).join(", ") || "0";

function showWatches({watches}) {
  show("watches_section", Boolean(watches?.length));
  setRows("watches", (watches ?? []).map((watch) => [
    {text: watch.name ?? "", name: "watch_name"}, {text: watch.input ?? "", title: `output: ${watch.output ?? ""}`, name: "path"},
    watch.reason ? {text: `${watch.state}: ${watch.reason}`, name: "bad_text detail"} : {text: watch.state ?? "", name: "muted"},
    numberCell(count(watch.done)), numberCell(count(watch.failed), watch.failed ? "bad_text" : ""), numberCell(count(watch.unfinished)),
    numberCell(watch.quarantine_files ? `${count(watch.quarantine_files)} (${bytes(watch.quarantine_bytes)})` : "0"),
    numberCell(bytes(watch.free_bytes)), {text: unreadFiles(watch.not_read), name: "detail"},
  ]));
}

function showGpus({run, last}) {
  const gpus = last.gpus ?? [];
  show("gpus_section", gpus.length > 0);
  const of = (value, limit, write) => numberCell(write(value) + (known(limit) ? ` of ${write(limit)}` : ""));
  const watts = (value) => (known(value) ? `${count(value)} W` : kUnknown);
  setRows("gpus", gpus.map((gpu, i) => {
    const {name = "", memory_bytes, power_limit_w} = (run.gpus ?? []).find(({uuid}) => uuid === gpu.uuid) ?? {};
    return [
      {text: `${i} ${name}`, title: gpu.uuid, name: `dot line${i % 5}`},
      {bar: [{share: gpu.busy, name: `line${i % 5}`}], name: "bar_column"},
      numberCell(percent(gpu.busy)), numberCell(percent(gpu.memory_busy)), of(gpu.memory_used_bytes, memory_bytes, bytes),
      of(gpu.power_w, power_limit_w, watts), numberCell(`${count(gpu.sm_mhz)}, ${count(gpu.memory_mhz)} MHz`),
      numberCell(`${count(gpu.temperature_c)} °C`),
      gpu.throttle?.length ? {text: gpu.throttle.join(", "), name: "bad_text"} : {text: "nothing", name: "muted"},
    ];
  }));
}

function showProcess({run, last, total}) {
  const process = last.process ?? {};
  const batches = last.batches ?? {};
  const cores = share(process.cpu_s, last.interval_s);
  setFacts(byId("process"), [
    [`CPU, ${intervalText(last)}`, `${number(cores)} of ${count(run.cores)} cores`],
    ["memory", `${bytes(process.rss_bytes)} (${bytes(process.peak_rss_bytes)} peak) of ${bytes(run.memory_bytes)}`],
    ["images in flight", `${bytes(last.budget?.used_bytes)} of ${bytes(last.budget?.bytes)}`],
    ["threads", count(process.threads)],
    [`batches, ${intervalText(last)}`, `${number(share(batches.count, last.interval_s))} a second, ${percent(batches.fill)} full`],
    ...(run.gpus?.length ? [["out of GPU memory", `${plural(total.oom_splits, "batch", "batches")} split in two, ` +
      `${plural(total.cpu_fallback_images, "image", "images")} computed on the CPU`]] : []),
    ["start-up", duration(run.startup_s)],
    ["machine", run.cpu ?? kUnknown],
    ...(run.driver ? [["NVIDIA driver", run.driver]] : []),
    ["this run", run.run ?? kUnknown],
  ]);
  const settings = Object.entries(run.settings ?? {});
  setText(byId("settings_count"), count(settings.length));
  setFacts(byId("settings"), settings.map(([key, value]) => [key, typeof value === "string" ? value : JSON.stringify(value)]));
}

function showAll(status) {
  status = {...status, run: status.run ?? {}, total: status.total ?? {}, last: status.last ?? {}};
  const sections = [
    showHeader, showTiles, showStages, showQueues, showLatency, showFailures, showWatches, showGpus, showProcess];
  for (const section of sections) section(status);
}

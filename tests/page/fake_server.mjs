// A server of the status page with made-up figures, as docs/reference/status-page.md and docs/reference/throughput-log.md have them.
import {createServer} from "node:http";

const kStages = {source: 1, load: 6, batch: 1, compute: 2, write: 4};
const kQueues = {found: 64, loaded: 32, batches: 4, finished: 32};
const kGpus = ["GPU-5f1c1f6e-0000-4000-8000-000000000001", "GPU-5f1c1f6e-0000-4000-8000-000000000002"];

export const hostileName = `/srv/scans/<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>\u202egpj.jpg`;
const longName = `/srv/scans/${"a_very_long_name_without_any_space_".repeat(6)}.png`;

/** Something that looks like a measurement, from 0 to 1; the same for the same time. */
const wave = (time_s, phase) => 0.5 + 0.3 * Math.sin(time_s / 40 + phase) + 0.15 * Math.sin(time_s / 7 + 3 * phase);

const rate = (time_s) => 1800 + 600 * wave(time_s, 0);
const kBusy = {source: 0.03, load: 0.55, batch: 0.06, compute: 0.8, write: 0.25};
const busy = (stage, time_s) => kBusy[stage] * (0.7 + 0.4 * wave(time_s, stage.length));
const quantiles = (p50, count = 1800) => ({mean: p50 * 1.1, p50, p90: p50 * 1.9, p99: p50 * 3.7, count});

function line(kind, time_s, elapsed_s, {done, failed, gpus}) {
  const interval_s = kind === "total" ? elapsed_s : 5.0003;
  const images = kind === "total" ? done : Math.round(interval_s * rate(time_s));
  return {
    schema: "eckart.throughput/1", kind, run: "20261122T201500-4711", elapsed_s, interval_s,
    found: images + 40, done: images, failed: kind === "total" ? failed : 0, skipped: kind === "total" ? 1234 : 0, unfinished: 87,
    failures: kind === "total" && failed > 0 ? {corrupt: failed - 3, "not an image": 2, "too large": 1} : {},
    images_per_s: images / interval_s, pixels_per_s: (images * 36608) / interval_s,
    input_bytes_per_s: (images * 31000) / interval_s, output_bytes_per_s: (images * 22000) / interval_s,
    stages: Object.entries(kStages).map(([name, workers], i) => {
      const share = busy(name, time_s);
      const capacity = (1 - share) * [0.9, 0.7, 0.5, 0.05, 0][i];
      const all_s = workers * interval_s;
      return {
        name, workers, busy_s: share * all_s, waiting_for_input_s: (1 - share - capacity) * all_s, blocked_s: capacity * all_s,
        cpu_s: 0.8 * share * all_s, images, service_s: quantiles([2e-6, 0.0021, 0.004, 0.0085, 0.0031][i]),
      };
    }),
    queues: Object.entries(kQueues).map(([name, capacity], i) => ({
      name, images: Math.round(capacity * wave(time_s, i) * 0.9), capacity, wait_s: quantiles([0.031, 0.012, 0.0017, 0.0004][i]),
    })),
    budget: {bytes: 2147483648, used_bytes: 391000000}, batches: {count: 31, planes: 1900, fill: 0.93},
    end_to_end_s: quantiles(0.061),
    process: {cpu_s: 9.4, rss_bytes: 1830000000, peak_rss_bytes: 2100000000, threads: 31},
    gpus: gpus.map((uuid, i) => ({
      uuid, busy: wave(time_s, i), memory_busy: 0.31, memory_used_bytes: 21.4e9, power_w: 410 + 90 * wave(time_s, i), energy_j: 470,
      sm_mhz: 1980, memory_mhz: 3201, temperature_c: 52 + i, throttle: i === 0 ? [] : ["power"],
    })),
    oom_splits: 0, cpu_fallback_images: 0,
    bottleneck: {resource: "compute", busy: 0.91, text: "compute is the bottleneck: 91 % busy"},
  };
}

export class FakeServer {
  done = 1234567;
  failed = 20;
  ready = true;
  gpus = kGpus;
  run = "20261122T201500-4711";
  start_s = Date.now() / 1000 - 3700;
  idle = false;
  hasData = true;  // else nothing is known yet
  #server;
  #port = 0;

  constructor(html) {
    this.html = html;
  }

  get url() {
    return `http://127.0.0.1:${this.#port}/`;
  }

  async open() {
    this.#server = createServer((request, response) => this.#answer(request, response));
    await new Promise((opened) => this.#server.listen(this.#port, "127.0.0.1", opened));
    this.#port = this.#server.address().port;
  }

  async close() {
    const closed = new Promise((done) => this.#server.close(done));
    this.#server.closeAllConnections();
    await closed;
  }

  #answer(request, response) {
    const {pathname, searchParams} = new URL(request.url, this.url);
    if (pathname === "/") {
      response.writeHead(200, {"Content-Type": "text/html"}).end(this.html);
    } else if (pathname === "/status.json" && searchParams.has("since")) {
      const body = JSON.stringify(this.status(Number(searchParams.get("since"))));
      response.writeHead(200, {"Content-Type": "application/json"}).end(body);
    } else {
      response.writeHead(404).end();
    }
  }

  status(since_s) {
    const now_s = Date.now() / 1000;
    if (!this.hasData) return {now_s, interval_s: 1, run: {run: "0"}, ready: false, not_ready: [], total: {}, last: {}, history: {}};
    const elapsed_s = now_s - this.start_s;
    return {
      now_s, interval_s: 1, run: this.#run(), ready: this.ready,
      not_ready: this.ready ? [] : ["the input /srv/scans is missing"],
      watches: [
        {
          name: "scans", input: "/srv/scans", output: "/srv/scans-rank20", state: "watching", reason: "", done: 1200000, failed: 18,
          skipped: 0, waiting: 1203, unfinished: 1290, quarantine_files: 18, quarantine_bytes: 41e6, free_bytes: 812e9,
          not_read: {".tif": 10, ".heic": 3},
        },
        {
          name: "photos", input: "/srv/photos", output: "/srv/photos-small", state: "waiting for disk space",
          reason: "No space left on device", done: 34567, failed: 2, skipped: 0, waiting: 7, unfinished: 7, quarantine_files: 2,
          quarantine_bytes: 3e6, free_bytes: 12288, not_read: {},
        },
      ],
      total: line("total", now_s, elapsed_s, this), last: line("interval", now_s, elapsed_s, this),
      recent_failures: this.failed === 0 ? [] : [
        {input: hostileName, stage: "load", reason: "corrupt", detail: "Premature end of JPEG file"},
        {input: longName, stage: "load", reason: "not an image", detail: "it does not begin like a PNG or a JPEG"},
      ].map((failure, i) => ({time: new Date((now_s - 30 * i) * 1000).toISOString().replace(/\.\d+/, ""), ...failure})),
      history: this.#history(Math.max(since_s, now_s - 600), now_s),
    };
  }

  #run() {
    return {
      schema: "eckart.throughput/1", kind: "run", run: this.run, command: "watch", version: "0.1.0",
      host: "scanner-7", cpu: "AMD EPYC 9654 96-Core Processor", cores: 16, memory_bytes: 137438953472,
      backend: this.gpus.length ? "cuda" : "cpu", device: this.gpus.length ? "NVIDIA H200" : "AMD EPYC 9654 96-Core Processor",
      driver: this.gpus.length ? "580.95.05" : null, workers: kStages, startup_s: 1.42,
      settings: {rank: "20", "output.format": "png"},
      gpus: this.gpus.map((uuid) => ({uuid, name: "NVIDIA H200", memory_bytes: 150754820096, power_limit_w: 700})),
    };
  }

  #history(after_s, now_s) {
    const time_s = [];
    for (let time = Math.floor(after_s) + 1; time <= now_s; ++time) time_s.push(time);
    const all = (value) => time_s.map(value);
    const each = (names, value) => Object.fromEntries(names.map((name, i) => [name, all((time) => value(name, time, i))]));
    return {
      time_s, images_per_s: all(this.idle ? () => 0 : rate),
      failed_per_s: all((time) => (time % 97 === 0 && !this.idle ? 40 : 0)),
      cores_busy: all((time) => 0.6 * wave(time, 1)),
      stages: each(Object.keys(kStages), busy), queues: each(Object.keys(kQueues), (_, time, i) => 0.9 * wave(time, i)),
      gpus: this.gpus.map((uuid, i) => (
        {uuid, busy: all((time) => wave(time, i)), power_w: all((time) => 410 + 90 * wave(time, i))})),
    };
  }
}

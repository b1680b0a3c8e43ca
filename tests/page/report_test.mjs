// The report of eckart plan --html in headless Chromium: it fits a telephone, is legible light and dark, and prints short.
//   node report_test.mjs --eckart PROGRAM [--screenshots FOLDER]
// Ends with 77 where there is no Chromium.
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {mkdtempSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {parseArgs} from "node:util";
import {contrast, findChromium, launch, overflow} from "./browser.mjs";
import {FakeServer} from "./fake_server.mjs";

const {values: options} = parseArgs({options: {eckart: {type: "string"}, screenshots: {type: "string"}}});

const chromium = findChromium();
if (!chromium) {
  console.log("skipped: chromium not found (Debian package chromium)");
  process.exit(77);
}

/** A throughput log of runs of one kind of work, on 1 to 16 cores. */
function log(kind) {
  const {run, total} = new FakeServer("").status(0);
  return Array.from({length: 18}, (_, i) => {
    const cores = 2 ** (i % 5);
    const images = 10000 * cores;
    const name = `2026-11-22T23:01:${10 + i}-${kind}`;
    return [{...run, run: name, cores}, {
      ...total, run: name, elapsed_s: 100, interval_s: 100, done: images, failed: 0, images_per_s: images / 100,
      pixels: images * kind, process: {...total.process, cpu_s: 95 * cores},
      stages: total.stages.map((stage) => ({...stage, busy_s: 50, cpu_s: 40, images})),
    }];
  }).flat().map((line) => `${JSON.stringify(line)}\n`).join("");
}

const folder = mkdtempSync(join(tmpdir(), "eckart-report-"));
const browser = await launch(chromium);
try {
  const logs = [1000, 50000].map((kind) => join(folder, `${kind}.log`));
  logs.forEach((file, i) => writeFileSync(file, log([1000, 50000][i])));
  const report = join(folder, "plan.html");
  writeFileSync(report, execFileSync(options.eckart, ["plan", "--html", ...logs]));

  const page = await browser.newPage();
  for (const [width, dark] of [[390, false], [390, true], [1280, false]]) {
    await page.setViewport({width, height: 900});
    await page.emulateMediaFeatures([{name: "prefers-color-scheme", value: dark ? "dark" : "light"}]);
    await page.goto(`file://${report}`);
    assert.equal((await page.$$("section")).length, 2);
    assert.ok((await overflow(page)) <= 0, `it scrolls sideways at ${width} px`);
    await page.$$eval("details", (all) => all.forEach((details) => { details.open = true; }));
    const wide = await page.$$eval(".wide", (tables) => tables.filter((table) => table.scrollWidth > table.clientWidth).length);
    assert.equal(wide, 0, `${wide} tables scroll at ${width} px`);
    const clipped = await page.$$eval("figure > svg", (plots) => plots.flatMap((plot) => {
      const {left, right} = plot.getBoundingClientRect();
      return [...plot.querySelectorAll("text")].filter((text) => {
        const box = text.getBoundingClientRect();
        return box.left < left - 0.5 || box.right > right + 0.5;
      }).map((text) => text.textContent);
    }));
    assert.deepEqual(clipped, [], `labels outside of their plot at ${width} px`);
    const {low, background} = await contrast(page);
    assert.deepEqual(low, []);
    assert.ok(dark ? background < 0.05 : background > 0.8);
    if (options.screenshots) {
      await page.screenshot({path: `${options.screenshots}/report-${width}-${dark ? "dark" : "light"}.png`, fullPage: true});
    }
  }
  await page.$$eval("details", (all) => all.forEach((details) => { details.open = false; }));
  const pdf = Buffer.from(await page.pdf({format: "A4"})).toString("latin1");
  const pages = pdf.match(/\/Type\s*\/Page\b/g).length;
  assert.ok(pages <= 3, `two kinds of work take ${pages} pages`);
} finally {
  await browser.close();
  rmSync(folder, {recursive: true});
}

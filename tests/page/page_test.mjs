// The status page in headless Chromium.
//   node page_test.mjs --page status_page.html --plain plain_page.html [--screenshots FOLDER]
//   node page_test.mjs --url http://127.0.0.1:9464/ [--screenshots FOLDER]     a running eckart's
// Ends with 77 where there is no Chromium.
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {parseArgs} from "node:util";
import {charts, contrast, findChromium, launch, open, overflow, text, textBecomes} from "./browser.mjs";
import {FakeServer, hostileName} from "./fake_server.mjs";

const {values: options} = parseArgs({options: {
  page: {type: "string"}, plain: {type: "string"}, url: {type: "string"}, screenshots: {type: "string"}}});

const chromium = findChromium();
if (!chromium) {
  console.log("skipped: chromium not found (Debian package chromium)");
  process.exit(77);
}

async function screenshot(page, name) {
  if (options.screenshots) await page.screenshot({path: `${options.screenshots}/${name}.png`, fullPage: true});
}

function assertNoErrors(page, url) {
  assert.deepEqual(page.browserErrors, []);
  assert.deepEqual([...page.origins], [new URL(url).origin]);
}

async function assertLegible(page, {dark}) {
  const {low, background} = await contrast(page);
  assert.deepEqual(low, []);
  assert.ok(dark ? background < 0.05 : background > 0.8, `a background of luminance ${background}`);
  assert.ok((await overflow(page)) <= 0, "the page scrolls horizontally");
}

/** What holds of any server. */
async function drawsAndUpdates(browser, url, {width, dark, name}) {
  const page = await open(browser, url, {width, dark});
  const before = await charts(page);
  const time = await text(page, "#at");
  await page.waitForFunction((old) => document.querySelector("#at").textContent !== old, {timeout: 8000}, time);
  const after = await charts(page);
  assert.ok(before.length >= 4, `${before.length} charts`);
  for (const [i, {id, linePixels, hash}] of before.entries()) {
    if (!options.url) assert.ok(linePixels > 20, `${id} is blank`);
    assert.notEqual(after[i].hash, hash, `${id} did not update`);
  }
  await assertLegible(page, {dark});
  await screenshot(page, name);
  assertNoErrors(page, url);
  await page.browserContext().close();
}

async function figuresFollow(browser, server) {
  const page = await open(browser, server.url, {dark: true});
  await textBecomes(page, "#done", /^1,234,567$/);
  server.done = 7654321;
  server.ready = false;
  await textBecomes(page, "#done", /^7,654,321$/);
  await textBecomes(page, "#not_ready", /the input \/srv\/scans is missing/);
  assert.equal(await text(page, "#state"), "not ready");
  await assertLegible(page, {dark: true});
  await screenshot(page, "not-ready-dark");
  server.ready = true;
  await page.waitForSelector("#not_ready[hidden]");
  assert.match(await text(page, "#watches"), /photos\/srv\/photoswaiting for disk space: No space left on device34,5672/);
  assert.match(await text(page, "#watches"), /18 \(41\.0 MB\)812 GB10 \.tif, 3 \.heic/);
  assert.match(await text(page, "#gpus"), /\d °Cpower/);
  assert.match(await text(page, "#latency"), /end to end61\.0 ms/);
  server.gpus = [];
  await page.waitForSelector("#gpus_section[hidden]");
  assertNoErrors(page, server.url);
  await page.browserContext().close();
}

async function beginsWithNothing(browser, server) {
  server.hasData = false;
  const page = await open(browser, server.url);
  await textBecomes(page, "#done", /^–$/);
  server.hasData = true;
  await textBecomes(page, "#done", /^1,234,567$/);
  assert.ok((await charts(page)).every(({linePixels}) => linePixels > 20));
  assertNoErrors(page, server.url);
  await page.browserContext().close();
}

async function labelsRatesWithTheirInterval(browser, server) {
  const page = await open(browser, server.url);
  await textBecomes(page, ".tiles dt", /^Images a second, over 5 s$/);
  assert.equal(await text(page, "#stages .over"), "over 5 s");
  assert.equal(await text(page, "#latency .over"), "over 5 s");
  assert.match(await text(page, "#process"), /CPU, over 5 s/);
  assert.equal(await text(page, ".with_chart h2"), "Rate, each second");
  await page.browserContext().close();
}

async function explainsEachColorOfTheStages(browser, server) {
  const page = await open(browser, server.url);
  await textBecomes(page, "#done", /^1,234,567$/);
  const [parts, headings] = await page.evaluate(() => {
    const color = (element, pseudo) => getComputedStyle(element, pseudo).backgroundColor;
    const stages = document.querySelector("#stages");
    return [[...stages.querySelector("tbody .bar").children].map((part) => color(part)),
      [...stages.querySelectorAll("th.busy, th.input, th.blocked")].map((heading) => color(heading, "::before"))];
  });
  assert.equal(parts.length, 3);
  assert.deepEqual(headings, parts);
  await page.browserContext().close();
}

async function idleAxisEndsAtOne(browser, server) {
  server.idle = true;
  const page = await open(browser, server.url);
  const [[low, high], ticks] = await page.evaluate(() => {
    const {scales: {y}} = charts[0].plot;
    return [[y.min, y.max], [0, 0.2, 1, 1500].map(charts[0].formatTick)];
  });
  assert.deepEqual([low, high], [0, 1]);
  assert.deepEqual(ticks, ["0", "0.2", "1", "1,500"]);
  await screenshot(page, "idle");
  await page.browserContext().close();
}

async function namesAreText(browser, server) {
  const page = await open(browser, server.url);
  assert.equal(await text(page, "#recent tbody tr:first-child th + td"), hostileName.replace("\u202e", "\\u{202e}"));
  assert.equal(await page.$("#recent img, #recent script"), null);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assertNoErrors(page, server.url);
  await page.browserContext().close();
}

async function reconnectsToTheServer(browser, server) {
  const page = await open(browser, server.url);
  await textBecomes(page, "#done", /^1,234,567$/);
  await server.close();
  await page.waitForSelector("#connection:not([hidden])");
  assert.match(await text(page, "#connection"), /does not answer since/);
  assert.equal(await text(page, "#done"), "1,234,567");
  assert.ok(await page.$("#main.stale"));
  await assertLegible(page, {dark: false});
  await screenshot(page, "no-answer");
  server.done = 12;
  server.run = "another";
  await server.open();
  await textBecomes(page, "#done", /^12$/);
  await page.waitForSelector("#connection[hidden]");
  assert.equal(await page.$("#main.stale"), null);
  assert.equal(await text(page, "#state"), "ready");
  await page.browserContext().close();
}

async function plainPageHasFigures(browser, server) {
  const page = await open(browser, server.url, {width: 360});
  await page.waitForSelector("#no_charts:not([hidden])");
  server.done = 99;
  await textBecomes(page, "#done", /^99$/);
  assert.deepEqual(await charts(page), []);
  await assertLegible(page, {dark: false});
  assertNoErrors(page, server.url);
  await page.browserContext().close();
}

const sizes = [
  {name: "desktop", width: 1280, dark: false}, {name: "desktop-dark", width: 1280, dark: true},
  {name: "phone", width: 360, dark: false}, {name: "phone-dark", width: 390, dark: true}];

async function step(name, done) {
  try {
    await done;
    console.log(`ok: ${name}`);
  } catch (error) {
    throw new Error(`FAILED: ${name}`, {cause: error});
  }
}

async function testServer(url, browser) {
  await Promise.all(sizes.map((size) => step(`draws and updates: ${size.name}`, drawsAndUpdates(browser, url, size))));
}

async function withServer(file, test, browser) {
  const server = new FakeServer(readFileSync(file, "utf8"));
  await server.open();
  await test(browser, server);
  await server.close();
}

async function testFakeServer(browser) {
  await withServer(options.page, (_, server) => testServer(server.url, browser), browser);
  await Promise.all([
    step("figures follow the server's", withServer(options.page, figuresFollow, browser)),
    step("begins with nothing", withServer(options.page, beginsWithNothing, browser)),
    step("says of which time a rate is", withServer(options.page, labelsRatesWithTheirInterval, browser)),
    step("explains each color of the stages", withServer(options.page, explainsEachColorOfTheStages, browser)),
    step("an idle rate's axis goes to 1", withServer(options.page, idleAxisEndsAtOne, browser)),
    step("hostile names are shown as text", withServer(options.page, namesAreText, browser)),
    step("says when the server is gone, and goes on when it is back", withServer(options.page, reconnectsToTheServer, browser)),
    step("without charts it says so, and has figures", withServer(options.plain, plainPageHasFigures, browser)),
  ]);
}

const browser = await launch(chromium);
try {
  await (options.url ? testServer(options.url, browser) : testFakeServer(browser));
} finally {
  await browser.close();
}

// Debian's Chromium, and what tests ask of a page in it.
import {accessSync, constants} from "node:fs";
import {delimiter, join} from "node:path";
import puppeteer from "puppeteer-core";

const kNames = ["chromium", "chromium-browser", "google-chrome"];

/** The first of them on PATH; undefined where there is none. */
export function findChromium() {
  const paths = (process.env.PATH ?? "").split(delimiter);
  return kNames.flatMap((name) => paths.map((folder) => join(folder, name))).find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

export const launch = (executablePath) => puppeteer.launch({
  executablePath, headless: true, timeout: 30000,
  args: process.getuid() === 0 ? ["--no-sandbox"] : [],  // which root cannot have
});

/**
 * Opens `url` in a window of its own, so that it is never hidden behind another. `page.browserErrors` has what went wrong in
 * it since, `page.origins` whom it asked.
 */
export async function open(browser, url, {width = 1280, height = 1000, dark = false} = {}) {
  const page = await (await browser.createBrowserContext()).newPage();
  page.browserErrors = [];
  page.origins = new Set();
  page.on("console", (message) => {
    if (["error", "warn"].includes(message.type())) page.browserErrors.push(message.text());
  });
  page.on("pageerror", (error) => page.browserErrors.push(String(error)));
  page.on("requestfailed", (request) => page.browserErrors.push(`${request.url()}: ${request.failure()?.errorText}`));
  page.on("request", (request) => {
    if (!request.url().startsWith("data:")) page.origins.add(new URL(request.url()).origin);
  });
  await page.setViewport({width, height});
  await page.emulateMediaFeatures([
    {name: "prefers-color-scheme", value: dark ? "dark" : "light"}, {name: "prefers-reduced-motion", value: "reduce"}]);
  await page.goto(url);
  await page.waitForSelector("#main:not([hidden])");
  return page;
}

export const text = (page, selector) => page.$eval(selector, (element) => element.textContent);

/** Waits until the text of `selector` matches. */
export const textBecomes = (page, selector, pattern) => page.waitForFunction(
  (where, source) => new RegExp(source).test(document.querySelector(where)?.textContent ?? ""), {timeout: 8000},
  selector, pattern.source);

/** The visible charts: how many of their pixels are drawn in their first line's color, and a hash of all. */
export const charts = (page) => page.$$eval(".chart canvas", (canvases) => canvases.filter((canvas) => canvas.offsetWidth > 0)
  .map((canvas) => {
    const name = canvas.closest(".chart").querySelector(".swatch").className.replace("swatch ", "");
    const probe = document.createElement("i");
    probe.className = `swatch ${name}`;
    document.body.append(probe);
    const wanted = getComputedStyle(probe).backgroundColor.match(/\d+/g).map(Number);
    probe.remove();
    const copy = Object.assign(document.createElement("canvas"), {width: canvas.width, height: canvas.height});
    const context = copy.getContext("2d", {willReadFrequently: true});  // Chromium complains of reading another
    context.drawImage(canvas, 0, 0);
    const {data} = context.getImageData(0, 0, copy.width, copy.height);
    let linePixels = 0;
    let hash = 0;
    for (let i = 0; i < data.length; i += 4) {
      if (data[i + 3] > 200 && wanted.every((value, c) => Math.abs(data[i + c] - value) < 12)) ++linePixels;
      hash = (Math.imul(hash, 31) + data[i] + 256 * data[i + 1] + 65536 * data[i + 2] + data[i + 3]) | 0;
    }
    return {id: canvas.closest(".chart").id, linePixels, hash};
  }));

/** By how much the page is wider than its window. */
export const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/** Texts whose contrast is less than WCAG AA requires; `background`: the page's luminance, 0 to 1. */
export const contrast = (page) => page.evaluate(() => {
  const rgba = (color) => {
    const [r, g, b, a = 1] = color.match(/[\d.]+/g).map(Number);
    return {r, g, b, a};
  };
  const luminance = ({r, g, b}) => {
    const [red, green, blue] = [r, g, b].map((byte) => byte / 255)
      .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const backgroundOf = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = rgba(getComputedStyle(at).backgroundColor);
      if (color.a > 0) return color;
    }
    return {r: 255, g: 255, b: 255};
  };
  const low = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const written = !["SCRIPT", "STYLE", "NOSCRIPT"].includes(element.tagName);
    if (!written || !walker.currentNode.data.trim() || !element.checkVisibility()) continue;
    const colors = [rgba(getComputedStyle(element).color), backgroundOf(element)];
    const [dim, bright] = colors.map(luminance).sort((a, b) => a - b);
    const ratio = (bright + 0.05) / (dim + 0.05);
    if (ratio < 4.5) low.push(`${ratio.toFixed(2)}: ${walker.currentNode.data.trim().slice(0, 40)}`);
  }
  return {low, background: luminance(backgroundOf(document.body))};
});

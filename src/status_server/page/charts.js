// Charts of the samples, drawn by uPlot. If the page was built without uPlot, there are none. The colors are those of
// page.css, so that they follow its light and dark mode.
"use strict";

const kHasCharts = typeof uPlot !== "undefined";
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const charts = [];

/**
 * A chart in the element `id`. lines: () => [{name, column, color, fill}], called at each update; format: formats a
 * value; formatTick: formats a value at the axis, if different; axisMax: the upper limit of the axis, if it is fixed.
 */
class Chart {
  constructor(id, {title, lines, format, formatTick = format, axisMax}) {
    this.element = byId(id);
    this.title = title;
    this.lines = lines;
    this.format = format;
    this.formatTick = formatTick;
    this.axisMax = axisMax;
    this.element.setAttribute("role", "group");
    this.element.setAttribute("aria-label", title);
    this.plot = null;
    this.legend = makeElement("ul", "legend");
    this.canvas = makeElement("div", "canvas");
    this.canvas.setAttribute("aria-hidden", "true");  // the legend has the values
    const heading = makeElement("h3");
    heading.textContent = title;
    this.element.append(heading, this.legend, this.canvas);
    new ResizeObserver(() => this.resize()).observe(this.canvas);
    charts.push(this);
  }

  update(samples) {
    this.samples = samples;
    const lines = this.lines();
    const names = JSON.stringify(lines);
    if (names !== this.drawn) {
      this.plot?.destroy();
      this.plot = null;
      this.drawn = names;
      this.shown = lines;
    }
    const data = [samples.time_s, ...lines.map(({column}) => samples.column(column))];
    if (this.plot) {
      this.plot.setData(data);
    } else if (this.canvas.clientWidth > 0) {
      this.plot = new uPlot(this.options(lines), data, this.canvas);
    }
    this.label();
  }

  options(lines) {
    const axis = {
      stroke: () => color("muted"),
      grid: {stroke: () => color("line"), width: 1},
      ticks: {show: false, size: 0},
      font: "12px system-ui, sans-serif",
    };
    return {
      ...this.size(),
      legend: {show: false},
      cursor: {sync: {key: "eckart"}, y: false, drag: {x: false, y: false}, points: {size: 6}},
      scales: {
        x: {time: true, range: (_, first, last) => [Math.max(last - kHistory_s, Math.min(first, last - 60)), last]},
        y: {range: (_, low, high) => [0, this.axisMax ?? roundedAxisMax(high)]},
      },
      axes: [
        {...axis, space: 70, size: 22, values: (_, ticks) => ticks.map((tick) => clock(tick, tick % 60 !== 0))},
        {...axis, space: 28, size: 52, values: (_, ticks) => ticks.map(this.formatTick)},
      ],
      series: [{}, ...lines.map((line) => ({
        label: line.name,
        stroke: () => color(line.color),
        fill: line.fill ? () => color(line.fill) : undefined,
        width: 1.5,
        points: {show: false},
      }))],
      hooks: {setCursor: [() => this.label()]},
    };
  }

  /** Shows the values at the cursor, or the latest ones. */
  label() {
    const times = this.samples.time_s;
    const index = this.plot?.cursor.idx ?? times.length - 1;
    setCount(this.legend, this.shown.length, () => {
      const item = makeElement("li");
      item.append(makeElement("i"), makeElement("span"), makeElement("b"));
      return item;
    });
    this.shown.forEach((line, i) => {
      const [swatch, name, value] = this.legend.children[i].children;
      setClass(swatch, `swatch ${line.color}`);
      setText(name, line.name);
      setText(value, this.format(this.samples.column(line.column)[index]));
    });
  }

  size() {
    return {width: this.canvas.clientWidth, height: this.canvas.clientHeight};
  }

  resize() {
    if (this.canvas.clientWidth === 0 || !this.samples) return;
    if (this.plot) this.plot.setSize(this.size());
    else this.update(this.samples);
  }
}

/** The next of 1, 1.5, 2, 3, 5 … above `value`, so that an axis seldom changes; at least 1. */
function roundedAxisMax(value) {
  if (!known(value) || value <= 0.95) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 1.5, 2, 3, 5, 7.5, 10].find((step) => step * power >= value * 1.05) * power || 20 * power;
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const chart of charts) chart.plot?.redraw(false);
});

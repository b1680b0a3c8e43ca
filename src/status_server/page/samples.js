// The samples of the last ten minutes: one column of times and one of each value. The server sends only new samples.
"use strict";

const kHistory_s = 600;

class Samples {
  time_s = [];
  columns = new Map();  // name ("stages/load") to values; null if missing

  get last_s() {
    return this.time_s.at(-1) ?? 0;
  }

  column(name) {
    if (!this.columns.has(name)) this.columns.set(name, Array(this.time_s.length).fill(null));
    return this.columns.get(name);
  }

  /** Adds samples newer than the existing ones, and drops old ones. */
  add(history, interval_s) {
    const columns = columnsOf(history);
    const times = history.time_s ?? [];
    for (let i = 0; i < times.length; ++i) {
      const time = times[i];
      if (!known(time) || time <= this.last_s) continue;
      if (this.time_s.length > 0 && time - this.last_s > 5 * interval_s) {
        this.push(this.last_s + interval_s, []);  // so that lines do not cross the gap
      }
      this.push(time, columns.map(([name, values]) => [name, values[i]]));
    }
    this.dropBefore(this.last_s - kHistory_s);
  }

  push(time, values) {
    for (const [name] of values) this.column(name);
    this.time_s.push(time);
    const given = new Map(values);
    for (const [name, column] of this.columns) {
      const value = given.get(name);
      column.push(known(value) ? value : null);
    }
  }

  dropBefore(before) {
    const first = this.time_s.findIndex((time) => time >= before);
    if (first <= 0) return;
    this.time_s.splice(0, first);
    for (const column of this.columns.values()) column.splice(0, first);
  }
}

function columnsOf(history) {
  const columns = [];
  const add = (name, values) => Array.isArray(values) && columns.push([name, values]);
  for (const name of ["images_per_s", "failed_per_s", "cores_busy"]) add(name, history[name]);
  for (const group of ["stages", "queues"]) {
    for (const [name, values] of Object.entries(history[group] ?? {})) add(`${group}/${name}`, values);
  }
  for (const gpu of history.gpus ?? []) {
    add(`busy/${gpu.uuid}`, gpu.busy);
    add(`power/${gpu.uuid}`, gpu.power_w);
  }
  return columns;
}

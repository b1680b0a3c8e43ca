// Formats numbers and times. Unknown values (null, missing) are a dash.
"use strict";

const kUnknown = "–";
const known = (value) => typeof value === "number" && Number.isFinite(value);

const formatters = new Map();
function digits(value, fraction) {
  if (!formatters.has(fraction)) {
    formatters.set(fraction, new Intl.NumberFormat("en", {
      minimumFractionDigits: fraction, maximumFractionDigits: fraction,
    }));
  }
  return formatters.get(fraction).format(value);
}

/** At least three significant digits, with thousands separators: 0.123, 12.3, 1,234. */
function number(value) {
  if (!known(value)) return kUnknown;
  const size = Math.abs(value);
  if (size === 0 || size >= 99.95) return digits(value, 0);
  return digits(value, size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3);
}

/** The shortest form, for an axis: 0, 0.2, 1, 1,500. */
const shortest = new Intl.NumberFormat("en", {maximumSignificantDigits: 3});
const tick = (value) => shortest.format(value);

const count = (value) => (known(value) ? digits(value, 0) : kUnknown);

function percent(share) {
  if (!known(share)) return kUnknown;
  const value = 100 * share;
  if (value > 0 && value < 0.05) return "< 0.1 %";
  return `${digits(value, value > 0 && value < 0.95 ? 1 : 0)} %`;
}

/** With a prefix for powers of 1000: 12.3 MB. */
function scaled(value, unit) {
  if (!known(value)) return kUnknown;
  const prefixes = ["", "k", "M", "G", "T", "P"];
  let power = 0;
  while (power < prefixes.length - 1 && Math.abs(value) >= 999.5) {
    value /= 1000;
    ++power;
  }
  return `${power === 0 && Number.isInteger(value) ? digits(value, 0) : number(value)} ${prefixes[power]}${unit}`;
}

const bytes = (value) => scaled(value, "B");

/** A short time: 340 µs, 12.3 ms, 4.56 s, 3 min 20 s. */
function duration(seconds) {
  if (!known(seconds)) return kUnknown;
  if (seconds === 0) return "0 s";
  if (seconds < 0.9995e-3) return `${number(seconds * 1e6)} µs`;
  if (seconds < 0.9995) return `${number(seconds * 1e3)} ms`;
  return seconds < 99.95 ? `${number(seconds)} s` : longDuration(seconds);
}

/** A long time, in its two largest units: 2 d 3 h. */
function longDuration(seconds) {
  if (!known(seconds)) return kUnknown;
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  let rest = Math.max(0, Math.round(seconds));
  const first = units.findIndex(([, size]) => rest >= size);
  if (first < 0) return "0 s";
  const parts = [];
  for (const [name, size] of units.slice(first, first + 2)) {
    const amount = Math.floor(rest / size);
    rest -= amount * size;
    if (amount > 0) parts.push(`${digits(amount, 0)} ${name}`);
  }
  return parts.join(" ");
}

const twoDigits = (value) => String(value).padStart(2, "0");

/** The local time of day; `when` in seconds since 1970. */
function clock(when, withSeconds = true) {
  const date = new Date(when * 1000);
  const time = `${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}`;
  return withSeconds ? `${time}:${twoDigits(date.getSeconds())}` : time;
}

/** An ISO time as local time of day, with its date unless that is the date of `now`. */
function localTime(iso, now) {
  const when = Date.parse(iso) / 1000;
  if (!Number.isFinite(when)) return iso ?? kUnknown;
  const date = new Date(when * 1000);
  if (date.toDateString() === new Date(now * 1000).toDateString()) return clock(when);
  return `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())} ${clock(when)}`;
}

const plural = (amount, one, many) => `${count(amount)} ${amount === 1 ? one : many}`;

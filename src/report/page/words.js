// SPDX-License-Identifier: BSD-3-Clause
// Figures as the text report writes them, and elements whose text is never read as HTML.
const PLACE_SHOWN = 72;
const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

// A figure and its unit stay on one line.
const together = (text) => text.replace(/ /g, "\u00a0");

const sizeText = (bytes) => together(sizeOf(bytes));
const timeText = (us) => together(timeOf(us));
function sizeOf(bytes) {
  let unit = 0;
  let value = bytes;
  while (value >= 999.5 && unit + 1 < UNITS.length) { value /= 1024; unit += 1; }
  if (unit === 0) return Math.round(value) + " B";
  const digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return value.toFixed(Number.isInteger(value) ? 0 : digits) + " " + UNITS[unit];
}
const kibText = (kib) => sizeText(kib * 1024);

function timeOf(us) {
  const s = us / 1e6;
  if (us === 0) return "0 s";
  if (s < 0.001) return Math.round(us) + " µs";
  if (s < 0.1) return (s * 1e3).toFixed(1) + " ms";
  if (s < 9.995) return s.toFixed(2) + " s";
  if (s < 119.95) return s.toFixed(1) + " s";
  const pad = (n) => String(Math.floor(n)).padStart(2, "0");
  if (s < 7200) return Math.floor(s / 60) + " min " + pad(s % 60) + " s";
  return Math.floor(s / 3600) + " h " + pad((s / 60) % 60) + " min";
}
function percentText(part, whole) {
  const percent = whole > 0 ? (100 * part) / whole : 0;
  if (percent > 0 && percent < 0.1) return "< 0.1 %";
  return (percent > 0 && percent < 1 ? percent.toFixed(1) : percent.toFixed(0)) + " %";
}
const countText = (n) => n >= 1e9 ? (n / 1e9).toFixed(1) + " billion" : n >= 1e6 ? (n / 1e6).toFixed(1) + " million" : d3.format(",")(n).replace(/,/g, "\u202f");
const plural = (n, what) => countText(n) + " " + what + (n === 1 ? "" : "s");
const mean = (spread) => spread.ranks > 0 ? spread.sum / spread.ranks : 0;
const STATES = { gone: "gone", running: "still running", finalizing: "in MPI_Finalize", unknown: "not known", exited: "ended without MPI_Finalize" };
const stateText = (state) => STATES[state] || state;
const callText = (f, place) => !f ? "outside MPI" : place ? f + " at " + shortPlace(place) : f;
// As the text report does: template arguments go first, then the middle.
function shortPlace(place) {
  if (place.length <= PLACE_SHOWN) return place;
  let text = "", depth = 0;
  for (const c of place) {
    if (c === "<" && depth++ === 0) text += "<…>";
    else if (depth === 0) text += c;
    if (c === ">" && depth > 0) depth -= 1;
  }
  if (depth > 0) text = place;
  if (text.length <= PLACE_SHOWN) return text;
  const last = Math.floor(PLACE_SHOWN / 2), first = PLACE_SHOWN - last - 1;
  return text.slice(0, first) + "…" + text.slice(text.length - last);
}
const placeNode = (place) => el("small", { title: place }, shortPlace(place));

function rankSetText(set, all) {
  if (set.count === all && all === 2) return "both ranks";
  if (set.count === all && all > 1) return "all " + all + " ranks";
  const shown = set.ranges.slice(0, 6);
  const named = d3.sum(shown, (r) => r[1] - r[0] + 1);
  const text = shown.map((r) => r[0] === r[1] ? r[0] : r[0] + "–" + r[1]).join(", ");
  return (set.count === 1 ? "rank " : "ranks ") + text + (named < set.count ? " and " + (set.count - named) + " others" : "");
}

function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "onclick") node.addEventListener("click", value);
    else if (value !== undefined && value !== null) node.setAttribute(name, value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}
function legend(items) {
  return el("div", { class: "legend" }, items.map(([name, color]) =>
    el("span", {}, el("i", color === "line" ? { class: "line" } : { style: "background:" + color }), name)));
}
// Round numbers of bytes, powers of two times 1, 2, 5, 10 … within one unit.
function sizeTicks(most, wanted) {
  if (!(most > 0)) return [0];
  const unit = Math.pow(1024, Math.floor(Math.log2(most) / 10));
  const step = d3.tickStep(0, most / unit, wanted) * unit;
  return d3.range(0, most + step * 1e-6, step);
}
// All labels of an axis in one unit.
function sizeTickText(tick, ticks) {
  if (tick === 0) return "0";
  const last = ticks[ticks.length - 1];
  const unit = Math.min(UNITS.length - 1, Math.floor(Math.log2(last) / 10));
  return String(Number((tick / Math.pow(1024, unit)).toPrecision(4))) + " " + UNITS[unit];
}
// Draws now and whenever the width or the colour scheme changes.
const redrawers = new Set();
function drawn(container, draw) {
  let width = 0;
  const again = (force) => {
    const now = Math.floor(container.clientWidth);
    if (now === 0 || (now === width && !force)) return;
    width = now;
    draw(now);
  };
  new ResizeObserver(() => again(false)).observe(container);
  redrawers.add(() => { if (container.isConnected) again(true); });
  return () => again(true);
}
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redrawers.forEach((f) => f()));
const cssColor = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

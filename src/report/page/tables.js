// SPDX-License-Identifier: BSD-3-Clause
// Tables that sort by a click on a column's head.
const ROWS_SHOWN = 12;

// columns: {title, value(row), show(row), text, wide, meter}; sorted by the column `by` first, largest on top.
function sortedTable(id, columns, rows, by) {
  let sorted = by, down = true, all = false;
  const body = el("tbody");
  const heads = columns.map((c, i) => el("th", { class: (c.text ? "text" : "") + (c.wide ? " wide" : ""), scope: "col" },
    el("button", { type: "button", onclick: () => { down = sorted === i ? !down : !c.text; sorted = i; fill(); } }, c.title)));
  const more = el("button", { type: "button", class: "more", onclick: () => { all = true; fill(); } }, `Show all ${rows.length}`);
  const fill = () => {
    const value = columns[sorted].value;
    const order = rows.slice().sort((a, b) => (down ? -1 : 1) * d3.ascending(value(a), value(b)));
    heads.forEach((h, i) => i === sorted ? h.setAttribute("aria-sort", down ? "descending" : "ascending") : h.removeAttribute("aria-sort"));
    const most = columns.map((c) => c.meter ? d3.max(rows, c.value) || 1 : 0);
    body.replaceChildren(...order.slice(0, all ? rows.length : ROWS_SHOWN).map((row) => el("tr", {}, columns.map((c, i) =>
      el("td", { class: (c.text ? "text" : "") + (c.wide ? " wide" : "") }, c.show(row),
        c.meter && c.value(row) > 0 ? el("i", { class: "meter", style: `width:${(64 * c.value(row) / most[i]).toFixed(1)}px` }) : null)))));
    more.hidden = all || rows.length <= ROWS_SHOWN;
  };
  fill();
  return el("div", {}, el("div", { class: "scroll" }, el("table", { class: "data", id }, el("thead", {}, el("tr", {}, heads)), body)), more);
}

// A figure of a place as people read it; these say more than their number.
const OF_PLACES = {
  hidden_ns: (s) => s.deferred ? [timeText(s.hidden_ns.sum / 1000), el("small", {}, `${countText(s.deferred)} receives, ${timeText(s.left_ns.sum / 1000)} left`)] : "–",
  grown_bytes: (s) => s.grown_bytes.max ? [grownText(s), el("small", {}, "rank " + s.grown_bytes.max_rank + (s.growing_since_us ? ", since " + timeText(s.growing_since_us) : ""))] : "–",
};

// A column of the table of places from its description (site_figures.hpp).
function columnOfPlaces({ field, head, shown, unit }, lived) {
  const value = (s) => shown === "count" ? s[field] : shown === "max" ? s[field].max : s[field].sum;
  const text = (v) => unit === "ns" ? timeText(v / 1000) : unit === "us" ? timeText(v) : unit === "bytes" ? sizeText(v) : unit === "kib" ? kibText(v) : countText(v);
  const plain = (s) => shown === "part" ? percentText(value(s), lived) : !value(s) ? "–"
    : shown === "max" ? [text(value(s)), el("small", {}, "rank " + s[field].max_rank)] : text(value(s));
  return { title: head, value, show: OF_PLACES[field] || plain, meter: field === "time_ns", wide: !["time_ns", "bytes", "grown_bytes"].includes(field) };
}

function callsSection(report, described) {
  const lived = afterInit(report);
  // Only where receives returned before their data had come.
  const early = report.sites.some((s) => s.deferred > 0);
  const columns = [{ title: "Call", text: true, value: (s) => s.function + s.place, show: (s) => [s.function, placeNode(s.place)] }]
    .concat(described.filter((c) => early || c.field !== "hidden_ns").map((c) => columnOfPlaces(c, lived)));
  return el("section", {}, el("h2", {}, "Calls"),
    el("p", {}, "Places in the program that call MPI, all ranks together. Time is a share of all ranks' time after MPI_Init; longest, in flight and grown are the most of one rank. " +
      (early ? "Hidden is the time in which data of receives came while the program went on; left is what it still waited for them. " : "") + "A click on a head sorts."),
    functionBars(report), el("div", { class: "card" }, sortedTable("calls", columns, report.sites.filter((s) => s.kind !== "setup"), 1)));
}

function communicatorsSection(report) {
  if (report.communicators.length === 0) return null;
  const members = (c) => c.size === report.world_size ? "all ranks" : c.size === 1 ? "rank " + c.first : c.stride === 0 ? c.size + " ranks, rank " + c.root + " first"
    : c.stride === 1 ? `ranks ${c.first}–${c.first + c.size - 1}` : `ranks ${c.first}, ${c.first + c.stride} … ${c.first + (c.size - 1) * c.stride}`;
  const made = (c) => { const s = report.siteById.get(c.site); return s ? callText(s.function, s.place) : "–"; };
  const columns = [
    { title: "Id", value: (c) => c.id === null ? Infinity : c.id, show: (c) => c.id === null ? "–" : c.id },
    { title: "Ranks", value: (c) => c.size, show: (c) => countText(c.size) },
    { title: "Members", text: true, value: (c) => c.first, show: members },
    { title: "Made in", text: true, wide: true, value: made, show: made },
    { title: "Memory", value: (c) => c.memory_kib.max, show: (c) => c.memory_kib.max ? kibText(c.memory_kib.max) : "–" },
    { title: "Freed by", wide: true, value: (c) => c.freed, show: (c) => c.freed ? countText(c.freed) : "–" },
  ];
  const rest = report.comms_total - report.communicators.length;
  return el("section", {}, el("h2", {}, "Communicators"),
    el("p", {}, plural(report.comms_total, "communicator") + "." +
      (rest > 0 ? ` The ${report.communicators.length} largest are listed.` : "")),
    el("div", { class: "card" }, sortedTable("communicators", columns, report.communicators, 1)));
}

// A growth of which more than an eighth was not measured around calls is an estimate.
function grownText(row) {
  return (row.estimated_bytes * 8 > row.grown_bytes.sum ? "about " : "") + sizeText(row.grown_bytes.max);
}

// Made and never freed, by kind and by the place that made them.
function objectsSection(report) {
  const left = report.objects.filter((o) => o.left.max > 0);
  if (left.length === 0) return null;
  const name = (kind) => kind.replace("_", " ");
  const kinds = [
    { title: "Objects", text: true, value: (o) => o.kind, show: (o) => name(o.kind) },
    { title: "Never freed", value: (o) => o.left.max, show: (o) => [countText(o.left.max), el("small", {}, "rank " + o.left.max_rank)], meter: true },
    { title: "Made there", value: (o) => o.made_there, show: (o) => countText(o.made_there) },
    { title: "All ranks", wide: true, value: (o) => o.left.sum, show: (o) => countText(o.left.sum) },
    { title: "MPI grew", value: (o) => o.grown_bytes.max, show: (o) => o.grown_bytes.max ? grownText(o) : "–" },
  ];
  const places = [
    { title: "Made in", text: true, value: (s) => s.function + s.place, show: (s) => [s.function, placeNode(s.place)] },
    { title: "Objects", text: true, value: (s) => s.object, show: (s) => name(s.object) },
    { title: "Never freed", value: (s) => s.left.max, show: (s) => [countText(s.left.max), el("small", {}, "rank " + s.left.max_rank)], meter: true },
    { title: "Made, all ranks", wide: true, value: (s) => s.made, show: (s) => countText(s.made) },
    { title: "MPI grew", value: (s) => s.grown_bytes.max, show: (s) => s.grown_bytes.max ? grownText(s) : "–" },
  ];
  return el("section", {}, el("h2", {}, report.ended ? "What was never freed" : "What was not yet freed"),
    el("p", {}, "Objects of MPI that the program made and did not free; requests: neither completed nor freed. MPI grew: its memory, in the calls that made them."),
    el("div", { class: "card" }, sortedTable("objects", kinds, left, 1)),
    el("div", { class: "card" }, sortedTable("places-of-objects", places, report.sites.filter((s) => s.left.max > 0), 2)));
}

function comparedTable(rows) {
  // The sign of a change says better or worse for all figures but these.
  const neutral = new Set(["ranks", "outcome", "bytes sent", "communicators", "all-to-alls served by Sluice", "waiting hidden, mean"]);
  const tone = (row) => neutral.has(row[0]) || !row[3] || row[3] === "same" ? "" : row[3].startsWith("−") ? "better" : "worse";
  return el("div", { class: "card scroll" }, el("table", { class: "data", id: "compared" },
    el("thead", {}, el("tr", {}, ["", "Before", "After", "Change"].map((t, i) => el("th", { class: i ? "plain" : "plain text" }, t)))),
    el("tbody", {}, rows.map((r) => el("tr", {}, el("td", { class: "text" }, r[0]), el("td", {}, r[1]), el("td", {}, r[2]), el("td", { class: tone(r) }, r[3]))))));
}

// What the services of Sluice did; a service whose figures are all 0 is left out.
function servicesSection(report) {
  const busy = new Set(report.counters.filter((c) => c.count.sum > 0).map((c) => c.service));
  const rows = report.counters.filter((c) => busy.has(c.service));
  if (rows.length === 0) return null;
  const columns = [
    { title: "Service", text: true, value: (c) => c.service, show: (c) => c.service },
    { title: "Figure", text: true, value: (c) => c.what, show: (c) => c.what },
    { title: "All ranks", value: (c) => c.count.sum, show: (c) => countText(c.count.sum) },
    { title: "Most of a rank", value: (c) => c.count.max, show: (c) => c.count.max ? [countText(c.count.max), el("small", {}, "rank " + c.count.max_rank)] : "0" },
  ];
  return el("section", {}, el("h2", {}, "What Sluice did"), el("p", {}, "The figures that its services counted."),
    el("div", { class: "card" }, sortedTable("services", columns, rows, 2)));
}

// SPDX-License-Identifier: BSD-3-Clause
// Where the ranks' time went: all ranks on one timeline, a bar for each rank, MPI functions.
const PARTS = [
  ["compute", "outside MPI", "var(--compute)"],
  ["mpi", "in MPI", "var(--collective)"],
  ["waiting", "waiting for other ranks", "var(--waiting)"],
  ["init", "MPI_Init", "var(--init)"],
];
// Milliseconds of a rank, or of all ranks together.
function partsOf(lived_us, mpi_ns, waiting_ns, init_ns) {
  const init = Math.min(init_ns, mpi_ns), waiting = Math.min(waiting_ns, mpi_ns - init);
  return { compute: Math.max(0, lived_us * 1000 - mpi_ns), mpi: mpi_ns - init - waiting, waiting, init };
}
// The time of all ranks after MPI_Init, in nanoseconds; shares are of this.
const afterInit = (report) => Math.max(0, report.lived_us.sum * 1000 - report.init_ns.sum);
const inMpi = (report) => Math.max(0, report.time_in_mpi_ns.sum - report.init_ns.sum);

function timeline(report) {
  const chart = el("div", { class: "chart", id: "timeline" });
  const ranks = report.ranks.map((rank) => { const points = pointsOf(rank); return { rank, points, spans: phasesOf(report, rank, points) }; });
  const draw = drawn(chart, (width) => {
    const each = ranks.length > 16 ? 13 : ranks.length > 6 ? 17 : 22, gap = each > 14 ? 3 : 2;
    const left = 66, right = width - 8, top = 4, bottom = top + ranks.length * each, height = bottom + 24;
    const x = d3.scaleLinear().domain([0, Math.max(1, report.duration_us)]).range([left, right]);
    chart.replaceChildren();
    const svg = d3.select(chart).append("svg").attr("viewBox", `0 0 ${width} ${height}`).attr("role", "img")
      .attr("aria-label", `What ${plural(ranks.length, "rank")} did over time`);
    ranks.forEach(({ rank, spans }, i) => {
      const y = top + i * each;
      const row = svg.append("g").attr("class", "row");
      row.append("rect").attr("x", left).attr("width", Math.max(0, x(Math.min(rank.now_us, report.duration_us)) - left)).attr("y", y).attr("height", each - gap).style("fill", "var(--compute)");
      for (const [from, to, phase] of spans)
        row.append("rect").attr("x", x(from)).attr("width", Math.max(.5, x(Math.min(to, x.domain()[1])) - x(from))).attr("y", y).attr("height", each - gap).style("fill", phase[2])
          .append("title").text(`rank ${rank.rank}: ${phase[1]}, ${timeText(from)} to ${timeText(to)}`);
      if (ranks.length <= 16 || i % 4 === 0)
        svg.append("text").attr("class", "axis-label").attr("x", left - 8).attr("y", y + (each - gap) / 2).attr("dy", ".35em").attr("text-anchor", "end").style("fill", "var(--soft)").style("font-size", "12px").text("rank " + rank.rank);
    });
    timeAxis(svg, x, height - 4, width < 500 ? 4 : 8);
  });
  draw();
  return el("div", { class: "card", style: "margin-bottom:14px" }, el("h3", {}, "All ranks over time"),
    legend([["outside MPI", "var(--compute)"]].concat(PHASES.map((p) => [p[1], p[2]]))), chart);
}

function rankBars(report) {
  const rows = report.ranks.map((r) => ({ name: "rank " + r.rank, parts: partsOf(r.now_us, r.time_in_mpi_ns, r.waiting_ns, r.init_ns) }));
  if (report.world_size > 1) {
    const all = partsOf(report.lived_us.sum, report.time_in_mpi_ns.sum, report.waiting_ns.sum, report.init_ns.sum);
    for (const key of Object.keys(all)) all[key] /= report.ranks_seen;
    rows.unshift({ name: "mean", parts: all });
  }
  const total = (row) => d3.sum(PARTS, (p) => row.parts[p[0]]);
  const most = d3.max(rows, total) || 1;
  return el("div", { class: "card" }, el("h3", {}, "Where each rank’s time went"), legend(PARTS.map((p) => [p[1], p[2]])),
    el("div", { class: "shares", id: "rank-bars" }, rows.map((row) => [
      el("div", { class: "who" }, row.name),
      el("div", { class: "share" }, PARTS.map((p) => row.parts[p[0]] > 0 ? el("i", { style: `width:${(100 * row.parts[p[0]] / most).toFixed(2)}%;background:${p[2]}`, title: `${row.name}: ${p[1]} ${timeText(row.parts[p[0]] / 1000)}` }) : null)),
      el("div", { class: "size" }, percentText(row.parts.waiting, total(row) - row.parts.init) + " waiting")])));
}

// Time by MPI function, all places together; MPI_Init is no part of the work.
function functionBars(report) {
  const sums = new Map();
  for (const site of report.sites) {
    if (site.kind === "setup") continue;
    const sum = sums.get(site.function) || { name: site.function, time: 0, waiting: 0, calls: 0, places: 0 };
    sum.time += site.time_ns.sum; sum.waiting += site.waiting_ns.sum; sum.calls += site.calls; sum.places += 1;
    sums.set(site.function, sum);
  }
  const rows = [...sums.values()].filter((s) => s.time > 0).sort((a, b) => b.time - a.time);
  if (!rows.length) return null;
  const shown = rows.slice(0, 8), whole = afterInit(report);
  return el("div", { class: "card", style: "margin-bottom:14px" }, el("h3", {}, "Time by MPI function"), legend([["in MPI", "var(--collective)"], ["of that waiting", "var(--waiting)"]]),
    el("div", { class: "shares", id: "function-bars" }, shown.map((s) => [
      el("div", { class: "who" }, s.name, el("small", {}, `${plural(s.calls, "call")} in ${plural(s.places, "place")}`)),
      el("div", { class: "share" }, el("i", { style: `width:${(100 * (s.time - Math.min(s.waiting, s.time)) / shown[0].time).toFixed(2)}%;background:var(--collective)` }),
        el("i", { style: `width:${(100 * Math.min(s.waiting, s.time) / shown[0].time).toFixed(2)}%;background:var(--waiting)` })),
      el("div", { class: "size" }, percentText(s.time, whole))])),
    rows.length > shown.length ? el("p", { class: "note", style: "margin:10px 0 0" }, `${plural(rows.length - shown.length, "other function")}: ${percentText(d3.sum(rows.slice(8), (s) => s.time), whole)}.`) : null);
}

function timeSection(report) {
  if (!report.ranks.length) return null;
  const shown = report.ranks.length < report.world_size ? ` ${report.ranks.length} of ${report.world_size} ranks are kept in full.` : "";
  return el("section", {}, el("h2", {}, "Time"),
    el("p", {}, "Shares are of the time after MPI_Init" + (report.init_ns.max ? `, which took ${timeText(report.init_ns.max / 1000)}` : "") + ". Waiting leaves out the transfer of bytes." + shown),
    report.crowded ? el("p", { class: "note", id: "crowded" }, el("strong", {}, report.crowded + ". "), "A rank also waits while others use its processor, so times and waiting are longer than they would be elsewhere.") : null,
    report.hidden ? el("p", { class: "note", id: "hidden" }, el("strong", {}, "Hidden: "), report.hidden + ".") : null,
    timeline(report), rankBars(report));
}

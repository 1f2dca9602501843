// SPDX-License-Identifier: BSD-3-Clause
// Memory over time: one rank stacked by owner, all ranks small, many ranks as quantiles.
const OWNERS = [
  ["application", "application", "var(--application)"],
  ["mpi_private", "MPI private", "var(--mpi-private)"],
  ["mpi_shared", "MPI shared", "var(--mpi-shared)"],
  ["files", "libraries and files", "var(--files)"],
  ["sluice", "Sluice", "var(--sluice)"],
];
const PHASES = [
  ["messages", "send, receive", "var(--messages)", ["send", "receive"]],
  ["waiting", "wait, test", "var(--waiting)", ["completion"]],
  ["collective", "collective", "var(--collective)", ["collective"]],
  ["objects", "other MPI", "var(--objects)", ["communicator", "window", "one-sided", "file", "other"]],
  ["init", "MPI_Init", "var(--init)", ["setup"]],
];
const phaseOf = (kind) => PHASES.find((p) => p[3].includes(kind)) || PHASES[3];

function pointsOf(rank) {
  const c = rank.curve;
  return c.time_us.map((time, i) => {
    const others = c.mpi_private_kib[i] + c.mpi_shared_kib[i] + c.files_kib[i] + c.sluice_kib[i];
    return {
      time, resident: c.resident_kib[i], in_flight: c.in_flight_kib[i], site: rank.sites[c.site[i]],
      application: Math.max(0, c.resident_kib[i] - others), mpi_private: c.mpi_private_kib[i],
      mpi_shared: c.mpi_shared_kib[i], files: c.files_kib[i], sluice: c.sluice_kib[i],
      pinned: c.pinned_kib[i], left_pinned: c.left_pinned_kib[i], used_at_once: c.used_at_once_kib[i],
    };
  });
}
const stackOf = (points) => d3.stack().keys(OWNERS.map((o) => o[0]))(points);

// When the rank was in which kind of call: from the samples, and exactly from the long calls.
function phasesOf(report, rank, points) {
  const kindOf = (id) => { const s = report.siteById.get(id); return s ? s.kind : "other"; };
  const spans = [];
  points.forEach((p, i) => {
    if (p.site === undefined || i + 1 >= points.length) return;
    spans.push([p.time, points[i + 1].time, phaseOf(kindOf(p.site))]);
  });
  const e = rank.events;
  e.start_us.forEach((start, i) => {
    const id = rank.sites[e.site[i]];
    spans.push([start, start + e.duration_us[i], phaseOf(id === undefined ? "other" : kindOf(id))]);
  });
  return spans;
}

function sizeAxis(svg, y, left, right, ticks) {
  const g = svg.append("g").attr("class", "axis");
  for (const tick of ticks) {
    g.append("line").attr("x1", left).attr("x2", right).attr("y1", y(tick / 1024)).attr("y2", y(tick / 1024));
    g.append("text").attr("x", left - 8).attr("y", y(tick / 1024)).attr("dy", "0.35em").attr("text-anchor", "end")
      .text(sizeTickText(tick, ticks));
  }
}
function timeAxis(svg, x, height, count) {
  const seconds = d3.scaleLinear().domain(x.domain().map((t) => t / 1e6)).range(x.range());
  const g = svg.append("g").attr("class", "axis");
  for (const t of seconds.ticks(count))
    g.append("text").attr("x", seconds(t)).attr("y", height).attr("text-anchor", "middle").text(t + " s");
}

function rankChart(container, report, rank, most_kib) {
  const points = pointsOf(rank);
  const spans = phasesOf(report, rank, points);
  const tip = el("div", { class: "tip", role: "status" });
  const draw = drawn(container, (width) => {
    container.replaceChildren();
    if (points.length < 2) { container.append(el("p", { class: "note" }, "This rank left no samples.")); return; }
    const height = width < 500 ? 250 : 340;
    const left = 66, right = width - 8, top = 16, bottom = height - 50;
    const x = d3.scaleLinear().domain([0, Math.max(report.duration_us, points[points.length - 1].time)]).range([left, right]);
    const y = d3.scaleLinear().domain([0, most_kib * 1.06]).range([bottom, top]);
    const svg = d3.select(container).append("svg").attr("viewBox", `0 0 ${width} ${height}`).attr("role", "img")
      .attr("aria-label", `Memory of rank ${rank.rank} over time, stacked by owner; highest ${kibText(rank.peak_kib)}`);
    sizeAxis(svg, y, left, right, sizeTicks(most_kib * 1024, 5));
    const area = d3.area().x((d) => x(d.data.time)).y0((d) => y(d[0])).y1((d) => y(d[1]));
    stackOf(points).forEach((layer, i) => svg.append("path").attr("d", area(layer)).style("fill", OWNERS[i][2]));
    svg.append("path").attr("d", d3.line().x((p) => x(p.time)).y((p) => y(p.in_flight))(points))
      .style("fill", "none").style("stroke", "var(--in-flight)").style("stroke-width", 1.1).style("stroke-dasharray", "3 2.5").style("opacity", .75);
    const strip = svg.append("g").attr("class", "phases");
    strip.append("rect").attr("x", left).attr("width", right - left).attr("y", bottom + 10).attr("height", 11).style("fill", "var(--hair)").style("opacity", .6);
    for (const [from, to, phase] of spans)
      strip.append("rect").attr("x", x(from)).attr("width", Math.max(.7, x(Math.min(to, x.domain()[1])) - x(from))).attr("y", bottom + 10).attr("height", 11).style("fill", phase[2]);
    strip.append("text").attr("x", left - 8).attr("y", bottom + 19.5).attr("text-anchor", "end").style("fill", "var(--soft)").style("font-size", "12px").text("in MPI");
    timeAxis(svg, x, height - 8, width < 500 ? 4 : 8);
    markPeak(svg, rank, points, x, y, left, right);
    const rule = svg.append("line").attr("y1", top).attr("y2", bottom + 21).style("stroke", "var(--ink)").style("opacity", 0);
    container.append(tip);
    const hide = () => { rule.style("opacity", 0); tip.style.opacity = 0; };
    svg.on("pointerleave", hide).on("pointermove", () => {
      const event = d3.event;
      const box = container.getBoundingClientRect();
      const at = x.invert((event.clientX - box.left) * width / box.width);
      const p = points[Math.min(points.length - 1, Math.max(0, d3.bisector((d) => d.time).left(points, at)))];
      rule.attr("x1", x(p.time)).attr("x2", x(p.time)).style("opacity", .5);
      fillTip(tip, report, p);
      const room = box.width - tip.offsetWidth;
      const px = x(p.time);
      tip.style.left = Math.max(0, Math.min(room, px + 14 + tip.offsetWidth > box.width ? px - tip.offsetWidth - 14 : px + 14)) + "px";
      tip.style.top = "24px";
      tip.style.opacity = 1;
    });
  });
  draw();
}
// The kernel may have seen more between two samples: the figure is the one that all tables have.
function markPeak(svg, rank, points, x, y, left, right) {
  const peak = points.reduce((a, b) => (b.resident > a.resident ? b : a));
  const px = x(peak.time), py = y(peak.resident);
  const before = px > (left + right) / 2;
  svg.append("circle").attr("cx", px).attr("cy", py).attr("r", 3.5).style("fill", "var(--ink)").style("stroke", "var(--card)").style("stroke-width", 1.5);
  svg.append("text").attr("x", px + (before ? -8 : 8)).attr("y", Math.max(11, py - 6)).attr("text-anchor", before ? "end" : "start")
    .style("fill", "var(--ink)").style("font-size", "12.5px").style("font-weight", 600)
    .style("paint-order", "stroke").style("stroke", "var(--card)").style("stroke-width", 3)
    .text(`${kibText(Math.max(rank.peak_kib, peak.resident))} at ${timeText(peak.time)}`);
}
function fillTip(tip, report, p) {
  const site = report.siteById.get(p.site);
  const rows = OWNERS.slice().reverse().concat([["in_flight", "in flight"]]).map((o) =>
    el("tr", {}, el("td", {}, o[1]), el("td", {}, kibText(p[o[0]]))));
  tip.replaceChildren(el("b", {}, `${timeText(p.time)} · ${kibText(p.resident)}`), el("table", {}, rows),
    site ? "in " + callText(site.function, site.place) : "outside MPI");
}

function smallRank(report, rank, most_kib, pressed, choose) {
  const points = pointsOf(rank);
  const w = 140, h = 42;
  const x = d3.scaleLinear().domain([0, report.duration_us || 1]).range([0, w]);
  const y = d3.scaleLinear().domain([0, most_kib]).range([h, 0]);
  const holder = el("div", { class: "chart" });
  const svg = d3.select(holder).append("svg").attr("viewBox", `0 0 ${w} ${h}`).attr("preserveAspectRatio", "none").attr("height", h).attr("aria-hidden", "true");
  const area = d3.area().x((d) => x(d.data.time)).y0((d) => y(d[0])).y1((d) => y(d[1]));
  stackOf(points).forEach((layer, i) => svg.append("path").attr("d", area(layer)).style("fill", OWNERS[i][2]));
  return el("button", { type: "button", "aria-pressed": pressed, "data-rank": rank.rank, onclick: () => choose(rank) },
    el("div", { class: "who" }, el("b", {}, "rank " + rank.rank), el("span", {}, kibText(rank.peak_kib))), holder);
}

function memorySection(report) {
  const most = Math.max(1, d3.max(report.ranks, (r) => Math.max(r.peak_kib, d3.max(r.curve.resident_kib) || 0)) || 1);
  const chart = el("div", { class: "chart", id: "rank-chart" });
  const title = el("h3");
  const call = el("span", { class: "small" });
  const grid = el("div", { class: "ranks" });
  const pinned = el("div", { class: "chart", id: "pinned-chart" });
  const choose = (rank) => {
    title.textContent = "Rank " + rank.rank;
    const site = rank.current_site && report.siteById.get(rank.current_site);
    call.textContent = `peak ${kibText(rank.peak_kib)}` + (rank.state === "ended" ? "" : ` · ${stateText(rank.state)}` + (site ? `, last in ${callText(site.function, site.place)}` : ""));
    grid.querySelectorAll("button").forEach((b) => b.setAttribute("aria-pressed", Number(b.dataset.rank) === rank.rank));
    chart.replaceChildren();
    rankChart(chart, report, rank, most);
    pinnedChart(pinned, report, rank);
  };
  const first = report.ranks.find((r) => r.rank === report.highest.rank) || report.ranks[0];
  if (report.ranks.length > 1)
    report.ranks.forEach((rank) => grid.append(smallRank(report, rank, most, rank === first, choose)));
  queueMicrotask(() => first && choose(first));
  const shown = report.ranks.length < report.world_size ? `${report.ranks.length} of ${report.world_size} ranks are kept in full: some from everywhere, and those that stand out.` : "";
  return el("section", {}, el("h2", {}, "Memory over time"),
    el("p", {}, "What a rank held, by whom it was taken; all ranks share one scale. The dashed line is the application's memory that was in flight in MPI calls. " + shown),
    report.world_size > 32 && report.resident_over_ranks.min.length ? overRanks(report) : null,
    el("div", { class: "card" }, el("div", { class: "title-row" }, title, call),
      legend(OWNERS.map((o) => [o[1], o[2]]).concat([["in flight", "line"]])), chart,
      legend(PHASES.map((p) => [p[1], p[2]]))), grid, pinnedCard(report, pinned));
}

// What an adapter needs registered, between the two extremes. Small buffers (below 64 KiB) are not among them.
const PINNED = [
  ["left_pinned", "all buffers left registered (simulated)", "var(--mpi-private)"],
  ["used_at_once", "each message registered by itself (simulated)", "var(--application)"],
  ["pinned", "registered, with the MPI’s own", "var(--alarm)"],
];
function pinnedChart(chart, report, rank) {
  const points = pointsOf(rank);
  const most = Math.max(1, d3.max(points, (p) => Math.max(p.left_pinned, p.used_at_once, p.pinned)) || 1);
  drawn(chart, (width) => {
    chart.replaceChildren();
    if (points.length < 2) return;
    const height = 190, left = 66, right = width - 8, top = 10, bottom = height - 26;
    const x = d3.scaleLinear().domain([0, Math.max(report.duration_us, points[points.length - 1].time)]).range([left, right]);
    const y = d3.scaleLinear().domain([0, most * 1.06]).range([bottom, top]);
    const svg = d3.select(chart).append("svg").attr("viewBox", `0 0 ${width} ${height}`).attr("role", "img")
      .attr("aria-label", `Registered memory of rank ${rank.rank} over time: ` + PINNED.map((line) =>
        `${line[1]}, at most ${kibText(d3.max(points, (p) => p[line[0]]))}`).join("; "));
    sizeAxis(svg, y, left, right, sizeTicks(most * 1024, 4));
    for (const [key, , color] of PINNED)
      svg.append("path").style("fill", "none").style("stroke", color).style("stroke-width", 1.6).attr("data-line", key)
        .attr("d", d3.line().curve(d3.curveStepBefore).x((p) => x(p.time)).y((p) => y(p[key]))(points));
    timeAxis(svg, x, height - 4, width < 500 ? 4 : 8);
  })();
}
function pinnedCard(report, chart) {
  if (!(report.left_pinned_kib.max > 0)) return null;
  return el("div", { class: "card", style: "margin-top:14px" }, el("h3", {}, "Registered memory of this rank"),
    el("p", { class: "small" }, `With an RDMA adapter, a rank whose buffers all stay registered needs up to ${kibText(report.left_pinned_kib.max)}, and one whose messages each register their own ${kibText(report.used_at_once_kib.max)}. A limit between them is what --registration-memory can be.`),
    legend(PINNED.map((line) => [line[1], line[2]])), chart);
}

// Least to most, the middle 80 %, and the median of all ranks.
function overRanks(report) {
  const chart = el("div", { class: "chart", id: "quantiles" });
  const draw = drawn(chart, (width) => {
    const q = report.resident_over_ranks, m = report.mpi_over_ranks;
    const height = 230, left = 66, right = width - 8, top = 10, bottom = height - 26;
    const x = d3.scaleLinear().domain([0, q.min.length * q.bin_us]).range([left, right]);
    const most = Math.max(1, d3.max(q.max));
    const y = d3.scaleLinear().domain([0, most * 1.04]).range([bottom, top]);
    chart.replaceChildren();
    const svg = d3.select(chart).append("svg").attr("viewBox", `0 0 ${width} ${height}`).attr("role", "img").attr("aria-label", "Memory of all ranks over time as quantiles");
    sizeAxis(svg, y, left, right, sizeTicks(most * 1024, 4));
    const at = (i) => x((i + .5) * q.bin_us);
    const band = (low, high, color, opacity) => svg.append("path").style("fill", color).style("opacity", opacity)
      .attr("d", d3.area().x((d, i) => at(i)).y0((d, i) => y(low[i])).y1((d, i) => y(high[i]))(low));
    const line = (values, color) => svg.append("path").style("fill", "none").style("stroke", color).style("stroke-width", 2)
      .attr("d", d3.line().x((d, i) => at(i)).y((d) => y(d))(values));
    band(q.min, q.max, "var(--application)", .22);
    band(q.p10, q.p90, "var(--application)", .45);
    line(q.p50, "var(--application)");
    band(m.min, m.max, "var(--mpi-private)", .35);
    line(m.p50, "var(--mpi-private)");
    timeAxis(svg, x, height - 4, width < 500 ? 4 : 8);
  });
  draw();
  return el("div", { class: "card", style: "margin-bottom:14px" }, el("h3", {}, `All ${report.ranks_seen} ranks`),
    legend([["resident: least to most, the middle 80 %, median", "var(--application)"], ["of that MPI's", "var(--mpi-private)"]]), chart);
}

// SPDX-License-Identifier: BSD-3-Clause
// Puts the page together: one report, or two with what changed between them.
function header(report) {
  const mark = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  mark.setAttribute("width", "26"); mark.setAttribute("height", "22"); mark.setAttribute("aria-hidden", "true"); mark.setAttribute("viewBox", "0 0 26 22");
  d3.select(mark).append("path").attr("d", "M1 5 H9 M17 5 H25 M9 1 V13 H17 V1 M1 17 q3 -3 6 0 t6 0 t6 0 t6 0").style("fill", "none").style("stroke", "currentColor").style("stroke-width", 2).style("stroke-linecap", "round").style("stroke-linejoin", "round");
  const started = report.start_unix_us ? new Date(report.start_unix_us / 1000) : null;
  const facts = [plural(report.world_size, "rank"), report.mpi, timeText(report.duration_us), started ? started.toISOString().slice(0, 16).replace("T", " ") + " UTC" : ""];
  return el("header", {}, el("div", { class: "mark" }, mark, "Sluice report", el("span", { class: "facts" }, facts.filter(Boolean).join(" · "))), identified(report));
}
// Only what --identify asked for.
function identified(report) {
  const who = report.identity;
  const hosts = [...new Set(report.nodes.map((n) => n.host).filter(Boolean))].sort();
  if (!who.user && !hosts.length) return null;
  return el("p", { class: "facts identity" }, (who.user ? "by " + who.user : "") + (hosts.length ? " on " + hosts.slice(0, 3).join(", ") + (hosts.length > 3 ? ` and ${hosts.length - 3} more` : "") : ""),
    who.command ? [": ", el("code", {}, who.command)] : null);
}
function tile(label, value, small) {
  return el("div", { class: "tile" }, el("div", { class: "label" }, label), el("div", { class: "value" }, value), el("div", { class: "small" }, small || "\u00a0"));
}
function tiles(report) {
  const lived = afterInit(report);
  const mpi = { sum: report.mpi_private_kib.sum + report.mpi_shared_kib.sum, ranks: report.mpi_private_kib.ranks };
  const at = report.highest;
  const served = report.served_calls > 0;
  return el("div", { class: "tiles" },
    tile("highest peak", kibText(report.peak_kib.max), `rank ${at.rank}, ${report.when_of_peak.split(",")[0]}`),
    tile("peak of a rank, mean", kibText(mean(report.peak_kib)), `least ${kibText(report.peak_kib.min)}`),
    tile("MPI’s memory, mean", kibText(mean(mpi)), percentText(mean(mpi), mean(report.peak_kib)) + " of the peak"),
    tile("in flight at a rank’s peak", kibText(report.in_flight_kib.max), report.in_flight_kib.max ? `most on rank ${report.in_flight_kib.max_rank}` : "on any rank"),
    tile("time in MPI", percentText(inMpi(report), lived), `waiting ${percentText(report.waiting_ns.sum, lived)} of all time`),
    tile("served by Sluice", served ? countText(report.served_calls) : "–", !served ? "watched only" : report.saved_bytes.max ? `saved up to ${sizeText(report.saved_bytes.max)} a rank` : "all-to-alls in place"));
}
function headline(report) {
  if (!report.ended && report.outcome === "ended") return "The ranks that left a record ended";
  if (!report.ended) return report.outcome === "still running" ? "The job is still running" : report.cause ? report.cause.split(":")[0].replace(/\.$/, "") : "The job did not end";
  const at = report.highest;
  if (report.world_size > 1 && report.peak_kib.max < 1.02 * mean(report.peak_kib) && report.peak_kib.min > .98 * mean(report.peak_kib))
    return `Every rank peaked at about ${kibText(at.kib)}`;
  return report.world_size === 1 ? `It held ${kibText(at.kib)} at most`
    : `Ranks peaked at ${kibText(mean(report.peak_kib))} on average, rank ${at.rank} at ${kibText(at.kib)}`;
}
function lead(report) {
  const state = report.ended ? "" : report.state_text.replace(/^./, (c) => c.toUpperCase()) + `, last sign of life at ${timeText(report.duration_us)}. `;
  const huge = report.huge_kib.max ? ` Beside that, up to ${kibText(report.huge_kib.max)} were in reserved huge pages, on rank ${report.huge_kib.max_rank}.` : "";
  return state + `The highest peak was reached ${report.when_of_peak}.` + huge;
}
function lastSeen(report) {
  if (report.whereabouts.length === 0) return null;
  const columns = [
    { title: "Ranks", text: true, value: (w) => w.ranks.count, show: (w) => [rankSetText(w.ranks, report.world_size), el("small", {}, stateText(w.state))] },
    { title: "Last in", text: true, value: (w) => w.function + w.place, show: (w) => w.function ? [w.function, placeNode(w.place)] : "outside MPI" },
    { title: "Seen", wide: true, value: (w) => w.last_us.max, show: (w) => timeText(w.last_us.min) === timeText(w.last_us.max) ? timeText(w.last_us.max) : [timeText(w.last_us.min), " … ", timeText(w.last_us.max)] },
    { title: "For", value: (w) => w.for_us.max, show: (w) => w.for_us.max ? timeText(w.for_us.max) : "–" },
    { title: "Held", value: (w) => w.resident_kib.max, show: (w) => [kibText(w.resident_kib.max), el("small", {}, "rank " + w.resident_kib.max_rank)] },
  ];
  return el("section", {}, el("h2", {}, "Where the ranks were at last"), el("p", {}, "The call each rank was in when it was seen last (“seen” counts from when the first rank entered MPI_Init), for how long, and the most that one of them held." +
      (report.whereabouts.some((w) => w.state === "gone") ? " Gone: killed, or ended without MPI_Finalize." : "")),
    el("div", { class: "card" }, sortedTable("whereabouts", columns, report.whereabouts, 4)));
}
function consumersSection(report) {
  if (!report.consumers) return null;
  const most = report.consumers[0].bytes;
  return el("section", {}, el("h2", {}, "What holds most"), el("p", {}, "The rank that has most of each. MPI’s memory is what grew inside its calls; buffers in flight are the application’s."),
    el("div", { class: "card bars" }, report.consumers.map((c) => [
      el("div", { class: "who" }, c.who, el("small", {}, c.how)),
      el("div", {}, el("div", { class: "bar", style: `width:${(100 * c.bytes / most).toFixed(1)}%;background:${c.how.startsWith("MPI") ? "var(--mpi-private)" : c.who === "Sluice" ? "var(--sluice)" : "var(--application)"}` })),
      el("div", { class: "size" }, sizeText(c.bytes), el("small", { style: "color:var(--soft)" }, " rank " + c.rank))])));
}
function body(report, columns) {
  return [tiles(report),
    report.what_happened.length ? el("div", { class: "alarm", id: "what-happened" }, report.what_happened.map((line, i) => el("p", {}, i ? line : el("strong", {}, line)))) : null,
    el("section", {}, el("h2", {}, "What follows"), el("ol", { class: "advice", id: "advice" }, report.advice.map((a) => el("li", {}, a)))),
    lastSeen(report), timeSection(report), memorySection(report), consumersSection(report), messagesSection(report), callsSection(report, columns), communicatorsSection(report), objectsSection(report), servicesSection(report)].filter(Boolean);
}
function footer(...reports) {
  const named = reports.some((r) => r.identity.user || r.nodes.some((n) => n.host));
  return el("footer", {}, "Made by Sluice from what its ranks recorded. " + (named ? "It holds host names, the user and the program’s arguments, because --identify asked for them; no environment and no working folder."
    : "It holds no host name, user, environment or argument of the program.") + " Sizes are powers of 1024; times count from MPI_Init.");
}
function comparison(data) {
  const [before, after] = data.reports;
  const most = d3.max(data.reports, (r) => d3.max(r.ranks, (k) => Math.max(k.peak_kib, d3.max(k.curve.resident_kib) || 0)) || 1);
  const card = (report, name) => {
    const rank = report.ranks.find((r) => r.rank === report.highest.rank) || report.ranks[0];
    const chart = el("div", { class: "chart" });
    if (rank) queueMicrotask(() => rankChart(chart, report, rank, most));
    return el("div", { class: "card" }, el("div", { class: "title-row" }, el("h3", {}, name), el("span", { class: "small" }, rank ? `rank ${rank.rank}, its highest` : "no rank")), chart);
  };
  const details = el("div", { id: "details" });
  const buttons = data.reports.map((report, i) => el("button", { type: "button", onclick: () => choose(i) }, i ? "After" : "Before"));
  const choose = (i) => {
    buttons.forEach((b, j) => b.setAttribute("aria-pressed", i === j));
    details.replaceChildren(el("p", { class: "lead", style: "margin-top:18px" }, headline(data.reports[i]) + ". " + lead(data.reports[i])), ...body(data.reports[i], data.columns));
  };
  const change = before.peak_kib.max > 0 ? after.peak_kib.max / before.peak_kib.max : 1;
  const title = Math.abs(change - 1) < .005 ? "The highest peak stayed at " + kibText(after.peak_kib.max)
    : `The highest peak ${change < 1 ? "fell" : "rose"} from ${kibText(before.peak_kib.max)} to ${kibText(after.peak_kib.max)}`;
  document.title = "Sluice: before and after";
  const parts = [header(after), el("h1", {}, title), el("p", { class: "lead" }, `Run time ${timeText(before.duration_us)} before, ${timeText(after.duration_us)} after.`),
    comparedTable(data.compared), el("section", {}, el("h2", {}, "Memory of the highest rank"), el("p", {}, "Both on one scale."),
      legend(OWNERS.map((o) => [o[1], o[2]]).concat([["in flight", "line"]])), el("div", { class: "two" }, card(before, "Before"), card(after, "After"))),
    el("h2", {}, "In detail"), el("div", { class: "switch", role: "group", "aria-label": "Which report" }, buttons), details, footer(before, after)];
  queueMicrotask(() => choose(1));
  return parts;
}
function start() {
  const page = document.getElementById("page");
  let data;
  try {
    data = JSON.parse(document.getElementById("reports").textContent);
  } catch (error) {
    page.replaceChildren(el("p", {}, "This is the template of a report: sluice report --html makes a page of it."));
    return;
  }
  for (const report of data.reports) report.siteById = new Map(report.sites.map((s) => [s.id, s]));
  if (data.reports.length === 2) {
    page.replaceChildren(...comparison(data));
  } else {
    const report = data.reports[0];
    document.title = "Sluice report: " + plural(report.world_size, "rank") + ", " + timeText(report.duration_us);
    page.replaceChildren(header(report), el("h1", {}, headline(report)), el("p", { class: "lead" }, lead(report)), ...body(report, data.columns), footer(report));
  }
  document.documentElement.dataset.ready = "yes";
}
start();

// SPDX-License-Identifier: BSD-3-Clause
// Who sends to whom, and messages by size.
function matrixCard(report) {
  const m = report.matrix;
  const bins = Math.min(256, report.world_size);
  const most = d3.max(m.bytes) || 0;
  const least = d3.min(m.bytes.filter((b) => b > 0)) || 1;
  const chart = el("div", { class: "chart", id: "matrix" });
  const tip = el("div", { class: "tip", role: "status" });
  const cells = new Map(m.from.map((from, i) => [from * bins + m.to[i], i]));
  const label = (bin) => bins === report.world_size ? String(bin) : String(Math.floor(bin * report.world_size / bins));
  const ranksOf = (bin) => bins === report.world_size ? "rank " + bin : "ranks " + label(bin) + "–" + (Number(label(bin + 1)) - 1);
  const scale = most > least * 4 ? d3.scaleLog().domain([least, most]).range([.12, 1]) : d3.scaleLinear().domain([0, Math.max(1, most)]).range([.05, 1]);
  const draw = drawn(chart, (width) => {
    const left = 44, side = Math.max(60, Math.min(width - left - 4, 420)), top = 22;
    const canvas = el("canvas", { role: "img", "aria-label": `Bytes from rank to rank; most ${sizeText(most)}` });
    const fine = bins <= 40 ? Math.max(4, Math.floor(side * 2 / bins)) : Math.max(1, Math.floor(840 / bins));
    canvas.width = canvas.height = bins * fine;
    canvas.style.cssText = `width:${side}px;height:${side}px;margin-left:${left}px`;
    chart.style.paddingTop = top + "px";
    const context = canvas.getContext("2d");
    const ramp = d3.interpolateLab(cssColor("--heat-low"), cssColor("--heat-high"));
    const gap = bins <= 40 ? Math.max(1, Math.round(fine / 24)) : 0;
    context.fillStyle = cssColor("--hair");
    context.globalAlpha = .45;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.globalAlpha = 1;
    m.from.forEach((from, i) => {
      if (m.bytes[i] === 0) return;
      context.fillStyle = ramp(scale(m.bytes[i]));
      context.fillRect(m.to[i] * fine + gap, from * fine + gap, fine - 2 * gap, fine - 2 * gap);
    });
    chart.replaceChildren(canvas, tip);
    const svg = d3.select(chart).append("svg").attr("class", "axis").style("position", "absolute").style("inset", 0).style("pointer-events", "none").attr("height", side + top).attr("viewBox", null);
    const step = Math.max(1, Math.ceil(bins / 8 / (bins > 8 ? 4 : 1)) * (bins > 8 ? 4 : 1));
    for (let bin = 0; bin < bins; bin += step) {
      const at = (bin + .5) * side / bins;
      svg.append("text").attr("x", left + at).attr("y", top - 7).attr("text-anchor", "middle").text(label(bin));
      svg.append("text").attr("x", left - 7).attr("y", top + at).attr("dy", ".35em").attr("text-anchor", "end").text(label(bin));
    }
    canvas.onpointerleave = () => { tip.style.opacity = 0; };
    canvas.onpointermove = (event) => {
      const to = Math.min(bins - 1, Math.floor(event.offsetX / side * bins)), from = Math.min(bins - 1, Math.floor(event.offsetY / side * bins));
      const cell = cells.get(from * bins + to);
      tip.replaceChildren(el("b", {}, `${ranksOf(from)} → ${ranksOf(to)}`), el("br"),
        cell === undefined ? "nothing" : `${sizeText(m.bytes[cell])} in ${plural(m.messages[cell], "message")}`);
      tip.style.left = Math.max(0, Math.min(chart.clientWidth - tip.offsetWidth, left + event.offsetX + 12)) + "px";
      tip.style.top = Math.max(0, event.offsetY + top - 20) + "px";
      tip.style.opacity = 1;
    };
  });
  draw();
  return el("div", { class: "card" }, el("div", { class: "title-row" }, el("h3", {}, "From rank (row) to rank (column)"),
    el("span", { class: "legend", style: "margin:0" }, most > least ? [sizeText(least), el("span", { class: "ramp" }), sizeText(most)] : sizeText(most) + " each")), chart);
}

function sizesCard(report) {
  const groups = PHASES.filter((p) => p[0] !== "waiting" && p[0] !== "init");
  const buckets = d3.range(32).map((i) => {
    const row = { i };
    groups.forEach((g) => { row[g[0]] = 0; });
    return row;
  });
  for (const site of report.sites) {
    if (site.kind === "setup") continue;
    const phase = phaseOf(site.kind)[0] === "waiting" ? "messages" : phaseOf(site.kind)[0];
    site.sizes.forEach((n, i) => { buckets[i][phase] += n; });
  }
  const total = (b) => d3.sum(groups, (g) => b[g[0]]);
  const used = buckets.filter((b) => b.i > 0 && total(b) > 0);
  const chart = el("div", { class: "chart", id: "sizes" });
  const from = used.length ? Math.max(1, used[0].i - 1) : 1, to = used.length ? Math.min(31, used[used.length - 1].i + 1) : 12;
  const shown = buckets.slice(from, to + 1);
  const rangeText = (i) => i === 31 ? "from " + sizeText(2 ** 30) : sizeText(2 ** (i - 1)) + " to " + sizeText(2 ** i);
  const draw = drawn(chart, (width) => {
    const height = Math.min(400, Math.max(230, width * .8)), left = 66, right = width - 6, top = 12, bottom = height - 44;
    const x = d3.scaleBand().domain(shown.map((b) => b.i)).range([left, right]).padding(.16);
    const most = Math.max(1, d3.max(shown, total));
    const y = d3.scaleLinear().domain([0, most]).nice(5).range([bottom, top]);
    chart.replaceChildren();
    const svg = d3.select(chart).append("svg").attr("viewBox", `0 0 ${width} ${height}`).attr("role", "img").attr("aria-label", "Calls by size of the message");
    const g = svg.append("g").attr("class", "axis");
    for (const t of y.ticks(5)) {
      g.append("line").attr("x1", left).attr("x2", right).attr("y1", y(t)).attr("y2", y(t));
      g.append("text").attr("x", left - 8).attr("y", y(t)).attr("dy", ".35em").attr("text-anchor", "end").text(t >= 1e6 ? d3.format("~s")(t) : countText(t));
    }
    for (const b of shown) {
      let below = 0;
      for (const group of groups) {
        if (b[group[0]] === 0) continue;
        svg.append("rect").attr("x", x(b.i)).attr("width", x.bandwidth()).attr("y", y(below + b[group[0]])).attr("height", Math.max(1, y(below) - y(below + b[group[0]]))).style("fill", group[2])
          .append("title").text(`${rangeText(b.i)}: ${plural(b[group[0]], "call")} (${group[1]})`);
        below += b[group[0]];
      }
    }
    const every = Math.ceil(shown.length * 58 / (right - left));
    shown.forEach((b, i) => {
      if (i % every === 0)
        g.append("text").attr("x", x(b.i)).attr("y", bottom + 18).attr("text-anchor", "middle").text(sizeText(2 ** (b.i - 1)));
    });
    g.append("text").attr("x", right).attr("y", bottom + 36).attr("text-anchor", "end").text("bytes of a call, from");
  });
  draw();
  return el("div", { class: "card" }, el("h3", {}, "Calls by message size"), legend(groups.map((p) => [p[1], p[2]])),
    used.length ? chart : el("p", { class: "note" }, "No call moved data."));
}

// Collective and one-sided calls whose definition names no pairs of ranks: by function, the largest first.
function besideMatrix(report) {
  const sums = d3.rollups ? d3.rollups(report.sites, (v) => d3.sum(v, (s) => s.unplaced_bytes), (s) => s.function)
    : d3.nest().key((s) => s.function).rollup((v) => d3.sum(v, (s) => s.unplaced_bytes)).entries(report.sites).map((e) => [e.key, e.value]);
  const rows = sums.filter((r) => r[1] > 0).sort((a, b) => b[1] - a[1]);
  if (!rows.length) return null;
  const shown = rows.slice(0, 5).map((r) => `${sizeText(r[1])} of ${r[0]}`).join(", ");
  return el("p", { class: "note", id: "beside-matrix", style: "margin-top:14px" }, `Not in the matrix, for these calls name no pairs of ranks, or ranks that follow no rule: ${shown}` +
    (rows.length > 5 ? `, and ${sizeText(d3.sum(rows.slice(5), (r) => r[1]))} of ${plural(rows.length - 5, "other call")}` : "") + ".");
}

function messagesSection(report) {
  // Without a message the matrix would be an empty square.
  if (!d3.sum(report.matrix.bytes))
    return el("section", {}, el("h2", {}, "Communication"), el("p", { id: "no-matrix" }, "No call named a rank that its bytes go to."), sizesCard(report), besideMatrix(report));
  return el("section", {}, el("h2", {}, "Communication"),
    el("p", {}, `${sizeText(d3.sum(report.matrix.bytes))} went from rank to rank in ${plural(d3.sum(report.matrix.messages), "message")}: what is sent to a named partner, and what collectives are defined to move from one rank to another, whichever way the MPI takes.` +
      (report.world_size > 256 ? " Each cell stands for several ranks." : "")),
    el("div", { class: "two" }, matrixCard(report), sizesCard(report)), besideMatrix(report));
}

// Values of hooks and taps: events as docs/events.md describes them, from a server, from recordings in the page or from
// files that the user opens. Memory does not grow with the number of events: a long curve keeps every second point.
"use strict";
(function (hlocb) {
  const { data, items } = hlocb.model;
  const { el, $ } = hlocb;
  const POINTS = 8192;   // of a curve
  const KEEP = 64;       // last values of a tensor, for scrubbing
  const ELEMENTS = 4096; // of a kept tensor; more are sampled
  const CARDS = 60;
  const BINS = 32;
  const colors = ["accent", "hook", "free", "copied"];

  const sources = []; // {name, series: Map, count}
  let paused = false, filter = "", total = 0, dirty = false, scrub = -1;
  const cards = new Map(); // by key

  function sourceNamed(name) {
    let s = sources.find((s) => s.name === name);
    if (!s) { s = { name, series: new Map(), count: 0 }; sources.push(s); }
    return s;
  }

  const number = (v) => v === true ? 1 : v === false ? 0 : v === "nan" ? NaN : v === "inf" ? Infinity : v === "-inf" ? -Infinity
    : Array.isArray(v) ? Math.hypot(number(v[0]), number(v[1])) : Number(v);

  class Series {
    constructor(key, e, k) {
      this.key = key;
      this.hook = e.hook || "";
      this.id = e.id || "";
      this.place = e.place || "";
      this.loc = e.loc || "";
      this.operand = k;
      this.kind = e.kind || "";
      this.probe = e.probe || "";
      this.of = e.of || "";
      this.count = 0;
      this.stride = 1;
      this.x = []; this.y = []; this.low = []; this.high = []; this.at = []; // at: the number of the event in the source
      this.last = null;
      this.kept = [];
      this.bad = 0; // events with a NaN or an infinity
    }

    add(operand, e, at) {
      const stats = this.probe === "stats" && operand.data && operand.data.length >= 3;
      const list = operand.data || [];
      this.dtype = operand.dtype; this.shape = operand.shape || [];
      const s = operand.stats ? given(operand) : stats ? statsOf(list.map(number), this.of) : summary(list);
      s.at = at; s.step = e.step !== undefined ? e.step : this.count;
      this.last = s;
      if (s.nan > 0 || s.inf + s.ninf > 0) this.bad++;
      if (this.count % this.stride === 0) {
        this.x.push(s.step); this.y.push(s.mean); this.low.push(s.min); this.high.push(s.max); this.at.push(at);
        if (this.x.length >= POINTS) {
          const half = (a) => a.filter((_, i) => i % 2 === 0);
          this.x = half(this.x); this.y = half(this.y); this.low = half(this.low); this.high = half(this.high); this.at = half(this.at);
          this.stride *= 2;
        }
      }
      this.count++;
      if (!stats && (list.length > 1 || s.sample && s.sample.length > 1)) {
        this.kept.push(s);
        if (this.kept.length > KEEP) this.kept.shift();
      }
    }

    get scalar() { return this.shape.length === 0 || this.shape.every((d) => d === 1); }

    // atEvent returns the last summary that is known at an event of the source.
    atEvent(at) {
      if (at < 0) return this.last;
      let best = null;
      for (const s of this.kept) if (s.at <= at) best = s;
      if (best) return best;
      let k = -1;
      for (let lo = 0, hi = this.at.length - 1; lo <= hi;) { const m = (lo + hi) >> 1; if (this.at[m] <= at) { k = m; lo = m + 1; } else hi = m - 1; }
      return k < 0 ? null : { mean: this.y[k], min: this.low[k], max: this.high[k], step: this.x[k], at: this.at[k], partial: true };
    }
  }

  // summary counts the six kinds of elements: -inf, negative, zero, positive, +inf, NaN.
  function summary(list) {
    const s = { ninf: 0, neg: 0, zero: 0, pos: 0, inf: 0, nan: 0, n: list.length, min: Infinity, max: -Infinity, mean: NaN };
    let sum = 0, finite = 0;
    const every = Math.max(1, Math.ceil(list.length / ELEMENTS));
    const sample = list.length > 1 ? [] : null;
    for (let k = 0; k < list.length; k++) {
      const v = number(list[k]);
      if (v !== v) { s.nan++; continue; }
      if (v === Infinity) { s.inf++; continue; }
      if (v === -Infinity) { s.ninf++; continue; }
      if (v < 0) s.neg++; else if (v > 0) s.pos++; else s.zero++;
      if (v < s.min) s.min = v;
      if (v > s.max) s.max = v;
      sum += v; finite++;
      if (sample && k % every === 0) sample.push(v);
    }
    s.mean = finite > 0 ? sum / finite : NaN;
    s.sample = sample;
    return s;
  }

  // given reads the statistics and the sample that a running program computed.
  function given(operand) {
    const t = operand.stats;
    return { stats: t.neg === undefined, n: t.n, nan: t.nan, inf: t.inf, ninf: t.ninf || 0, neg: t.neg || 0, zero: t.zero || 0, pos: t.pos || 0,
      min: number(t.min), max: number(t.max), mean: number(t.mean), sample: (operand.sample || []).map(number).filter(Number.isFinite) };
  }

  // statsOf reads the operand of a stats probe: minimum, maximum, sum, number of NaN, number of infinities.
  function statsOf(list, type) {
    const m = /^tensor<((?:\d+x)*)/.exec(type || "");
    const n = m ? m[1].split("x").filter(Boolean).reduce((a, d) => a * Number(d), 1) : 1;
    const nan = list[3] || 0, inf = list[4] || 0;
    return { stats: true, n, nan, inf, ninf: 0, min: list[0], max: list[1], mean: list[2] / Math.max(1, n - nan - inf) };
  }

  const itemsByPlace = () => {
    if (!hlocb.placeIndex) {
      hlocb.placeIndex = new Map();
      const step = hlocb.state.step;
      for (const i of step.items) {
        if (items.kind[i] !== hlocb.OP) continue;
        const l = step.locOf(i);
        for (const key of [l.text, l.place]) if (key) { if (!hlocb.placeIndex.has(key)) hlocb.placeIndex.set(key, []); hlocb.placeIndex.get(key).push(i); }
      }
    }
    return hlocb.placeIndex;
  };
  function itemsOf(series) {
    const step = hlocb.state.step;
    if (data.hooks) {
      const k = data.hooks.sites.findIndex((s) => s.id === series.id);
      if (k >= 0 && step.hookItem.has(k)) return [step.hookItem.get(k)];
    }
    return itemsByPlace().get(series.loc) || itemsByPlace().get(series.place) || [];
  }

  // event takes one event, or a list of events. source names the recording; without it the event is live.
  hlocb.event = function (e, source) {
    if (Array.isArray(e)) { for (const x of e) hlocb.event(x, source); return; }
    if (!e || !Array.isArray(e.operands)) return; // a header, or the results of a run
    const s = sourceNamed(source || e.process || "live");
    const at = s.count++;
    total++;
    e.operands.forEach((operand, k) => {
      const key = (e.id || e.hook) + " " + (e.loc || "") + " " + (e.probe || "") + " " + k;
      let series = s.series.get(key);
      if (!series) { series = new Series(key, e, k); s.series.set(key, series); }
      const bad = series.bad;
      series.add(operand, e, at);
      if (series.bad > bad && bad === 0 && series.last.nan > 0) {
        for (const i of itemsOf(series)) hlocb.state.nan.add(i);
        hlocb.nanChanged();
      }
    });
    schedule();
  };

  // source opens a stream of server-sent events, each a list of events.
  hlocb.source = function (url) {
    $("values-pane").hidden = false;
    const stream = new EventSource(url);
    stream.onmessage = (m) => { try { hlocb.event(JSON.parse(m.data)); } catch (e) { console.warn("an event is not JSON"); } };
    stream.onopen = () => { connection = "live"; schedule(); };
    stream.onerror = () => { connection = stream.readyState === 2 ? "ended" : "waiting"; schedule(); };
    stream.addEventListener("dropped", (m) => { dropped = JSON.parse(m.data).events; schedule(); });
    stream.addEventListener("end", () => { connection = "ended"; stream.close(); schedule(); });
    return stream;
  };
  let connection = "", dropped = 0;

  function schedule() {
    if (dirty) return;
    dirty = true;
    setTimeout(() => { dirty = false; if (!paused) render(); rate(); }, 120);
  }

  let lastTotal = 0, lastTime = performance.now(), shownRate = 0;
  function rate() {
    const now = performance.now();
    if (now - lastTime > 900) { shownRate = (total - lastTotal) * 1000 / (now - lastTime); lastTotal = total; lastTime = now; }
    const live = connection ? `${connection === "live" ? "●" : "○"} ${connection} · ${Math.round(shownRate).toLocaleString("en")} events/s · ` : "";
    $("rate").textContent = live + total.toLocaleString("en") + " events" + (dropped ? `, ${dropped.toLocaleString("en")} dropped` : "");
  }

  const matches = (s) => {
    if (filter === "") return true;
    const text = s.hook + " " + s.place + " " + s.probe + " " + s.loc;
    try { return new RegExp(filter, "i").test(text); } catch (e) { return text.includes(filter); }
  };

  function render() {
    if ($("values-pane").hidden) return;
    const keys = new Map(); // of all sources, in the order of the first event
    for (const s of sources) for (const [key, series] of s.series) if (!keys.has(key) && matches(series)) keys.set(key, series);
    const holder = $("values");
    let k = 0;
    for (const [key, series] of keys) {
      if (k++ >= CARDS) break;
      let card = cards.get(key);
      if (!card) { card = new Card(key, series); cards.set(key, card); }
      if (holder.children[k - 1] !== card.element) holder.insertBefore(card.element, holder.children[k - 1] || null);
      card.update();
    }
    while (holder.children.length > Math.min(k, CARDS)) holder.lastChild.remove();
    if (keys.size > CARDS) holder.append(el("p", { class: "more" }, `${keys.size - CARDS} more values: filter them`));
    if (keys.size === 0) holder.append(el("p", { class: "more" }, total === 0 ? "No values yet." : "No value matches the filter."));
    const longest = Math.max(0, ...sources.map((s) => s.count));
    const bar = $("scrub");
    bar.hidden = longest < 2;
    $("scrub-at").max = longest - 1;
    if (scrub < 0) $("scrub-at").value = longest - 1;
    $("scrub-text").textContent = scrub < 0 ? "latest" : `${scrub + 1} of ${longest}`;
  }

  const format = (v) => hlocb.formatNumber(v);

  // Card is the place of one value: a curve of a scalar; health counts and a histogram of a tensor.
  class Card {
    constructor(key, series) {
      this.key = key;
      this.series = series;
      this.head = el("button", { type: "button", class: "link", onclick: () => { const list = itemsOf(series); if (list.length) hlocb.goto(list[0]); } }, series.hook || "value");
      this.now = el("span", { class: "now" });
      this.chart = el("div", { class: "chart" });
      this.health = el("div", { class: "health" });
      this.histogram = el("canvas", { class: "histogram", width: 560, height: 90, role: "img", "aria-label": "Histogram" });
      this.element = el("article", { class: "card" },
        el("h3", {}, this.head, el("span", { class: "kind" }, [series.probe || series.kind, series.operand > 0 ? "operand " + series.operand : ""].filter(Boolean).join(" · ")), this.now),
        el("p", { class: "place" }, series.place), this.chart, this.health, this.histogram);
    }

    update() {
      const lines = sources.map((s, k) => [s, s.series.get(this.key), k]).filter((x) => x[1]);
      const first = lines[0][1];
      const current = lines.map(([s, x, k]) => [s, x.atEvent(scrub), k]).filter((x) => x[1]);
      const bad = lines.some(([, x]) => x.bad > 0);
      this.element.classList.toggle("bad", bad);
      const tensor = !first.scalar && first.probe !== "stats";
      this.now.replaceChildren(...current.map(([s, v, k]) => el("span", { class: "source-" + k, title: sources.length > 1 ? s.name : "" }, tensor ? "mean " + format(v.mean) : format(v.mean))));
      const shape = (first.of || (first.dtype || "") + "[" + (first.shape || []).join(",") + "]");
      this.now.append(el("span", { class: "shape" }, shape));
      this.curve(lines, tensor || first.probe === "stats");
      this.counts(current, tensor || first.probe === "stats");
      const sample = current.length && current[0][1].sample;
      this.histogram.hidden = !sample || sample.length < 2;
      if (!this.histogram.hidden) this.bars(current);
    }

    curve(lines, band) {
      const longest = Math.max(...lines.map(([, s]) => s.x.length));
      if (longest < 2) { this.chart.hidden = true; return; }
      this.chart.hidden = false;
      const style = getComputedStyle(document.documentElement);
      const color = (name) => style.getPropertyValue("--" + name).trim();
      const all = [];
      const series = [{}];
      for (const [source, s, k] of lines) {
        const c = color(colors[k % colors.length]);
        if (band && lines.length === 1) {
          all.push([s.x, s.low.map(finite)], [s.x, s.high.map(finite)]);
          series.push({ label: "min", stroke: color("muted"), width: 1 }, { label: "max", stroke: color("muted"), width: 1 });
        }
        all.push([s.x, s.y.map(finite)]);
        series.push({ label: source.name, stroke: c, width: 1.6, dash: k > 0 ? [5, 4] : undefined, points: { show: s.x.length < 40 } });
      }
      const signature = series.length + " " + hlocb.dark();
      const table = uPlot.join(all.map(([x, y]) => [x, y]));
      const width = Math.max(160, this.element.clientWidth - 20);
      if (!this.plot || this.signature !== signature) {
        if (this.plot) this.plot.destroy();
        const axis = { stroke: color("muted"), grid: { stroke: color("card-line"), width: 1 }, ticks: { show: false }, font: "10px system-ui", size: 28 };
        this.plot = new uPlot({ width, height: 120, legend: { show: false }, cursor: { y: false, drag: { x: true, y: false } }, scales: { x: { time: false } },
          axes: [{ ...axis, size: 20 }, { ...axis, size: 48 }], series, padding: [6, 8, 0, 0], hooks: { draw: [(u) => this.cursor(u)] } }, table, this.chart);
        this.signature = signature;
      } else {
        if (this.plot.width !== width) this.plot.setSize({ width, height: 120 });
        this.plot.setData(table);
      }
      this.lines = lines;
    }

    // cursor draws the scrubbed event.
    cursor(u) {
      if (scrub < 0 || !this.lines) return;
      const v = this.lines[0][1].atEvent(scrub);
      if (!v) return;
      const x = u.valToPos(v.step, "x", true);
      u.ctx.save();
      u.ctx.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--select").trim();
      u.ctx.lineWidth = 2;
      u.ctx.beginPath(); u.ctx.moveTo(x, u.bbox.top); u.ctx.lineTo(x, u.bbox.top + u.bbox.height); u.ctx.stroke();
      u.ctx.restore();
    }

    counts(current, show) {
      this.health.hidden = !show || !current.length;
      if (this.health.hidden) return;
      const rows = current.filter(([, v]) => !v.partial).map(([, v, k]) => {
        const parts = v.stats ? [["NaN", v.nan, "nan"], ["±inf", v.inf, "nan"], ["min", v.min], ["max", v.max]]
          : [["−inf", v.ninf, "nan"], ["−", v.neg], ["0", v.zero], ["+", v.pos], ["+inf", v.inf, "nan"], ["NaN", v.nan, "nan"], ["min", v.min], ["max", v.max]];
        return el("div", { class: "counts source-" + k }, ...parts.map(([name, x, cls]) => el("span", { class: cls && x > 0 ? "count-bad" : "" }, el("small", {}, name), " " + format(x))));
      });
      this.health.replaceChildren(...rows);
    }

    bars(current) {
      const c = this.histogram, g = c.getContext("2d");
      const style = getComputedStyle(document.documentElement);
      g.clearRect(0, 0, c.width, c.height);
      const lists = current.filter(([, v]) => v.sample && v.sample.length > 1);
      let min = Infinity, max = -Infinity;
      for (const [, v] of lists) { min = Math.min(min, v.min); max = Math.max(max, v.max); }
      if (!(max > min)) { max = min + 1; }
      lists.forEach(([, v, k]) => {
        const bins = new Float64Array(BINS);
        for (const x of v.sample) bins[Math.min(BINS - 1, Math.floor((x - min) / (max - min) * BINS))]++;
        const top = Math.max(...bins);
        g.fillStyle = style.getPropertyValue("--" + colors[k % colors.length]).trim();
        g.globalAlpha = lists.length > 1 ? 0.55 : 0.9;
        const w = c.width / BINS;
        for (let b = 0; b < BINS; b++) { const h = bins[b] / top * 70; g.fillRect(b * w + 1, 74 - h, w - 2, h); }
      });
      g.globalAlpha = 1;
      g.fillStyle = style.getPropertyValue("--muted").trim();
      g.font = "20px system-ui";
      g.textAlign = "left"; g.fillText(format(min), 2, 90);
      g.textAlign = "right"; g.fillText(format(max), c.width - 2, 90);
    }
  }
  const finite = (v) => Number.isFinite(v) ? v : null;

  // openText reads a recording or a file of events: a line of JSON each.
  function openText(name, text) {
    let broken = 0;
    for (const line of text.split("\n")) {
      if (line.trim() === "") continue;
      try { hlocb.event(JSON.parse(line), name); } catch (e) { broken++; }
    }
    if (broken > 0) $("announce").textContent = `${name}: ${broken} lines are not JSON`;
    $("values-pane").hidden = false;
    render(); rate();
  }

  function start() {
    $("filter").addEventListener("input", (e) => { filter = e.target.value; render(); });
    $("pause").addEventListener("click", () => { paused = !paused; $("pause").textContent = paused ? "Continue" : "Pause"; $("pause").setAttribute("aria-pressed", String(paused)); if (!paused) render(); });
    $("open-recording").addEventListener("click", () => $("recording-file").click());
    $("recording-file").addEventListener("change", async (e) => { for (const f of e.target.files) openText(f.name, await f.text()); });
    $("scrub-at").addEventListener("input", (e) => { const v = Number(e.target.value); scrub = v >= Number(e.target.max) ? -1 : v; render(); });
    for (const r of data.recordings || []) {
      $("values-pane").hidden = false;
      hlocb.event(r.events, r.name);
    }
    if (data.live) hlocb.source(data.live);
    rate();
  }

  // mark marks the cards of the selected op.
  function mark() {
    for (const card of cards.values()) card.element.classList.toggle("selected", hlocb.state.item >= 0 && itemsOf(card.series).includes(hlocb.state.item));
  }

  // sizes returns the number of points of each curve, for tests.
  const sizes = () => sources.flatMap((s) => [...s.series.values()].map((x) => x.x.length));

  hlocb.values = { start, render, mark, openText, sizes };
})(window.hlocb);

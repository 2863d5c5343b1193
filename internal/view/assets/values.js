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
  let paused = false, filter = "", total = 0, dirty = false;
  let scrub = -1;     // the step that is shown, -1: the latest
  let beside = false; // recordings stand side by side, not over each other
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
      this.x = []; this.y = []; this.low = []; this.high = []; // x: steps
      this.last = null;
      this.kept = [];
      this.bad = 0; // events with a NaN or an infinity
      this.firstBad = -1; // the step of the first of them
      this.nans = 0; this.infinities = 0; // elements of all events
    }

    add(operand, e) {
      const stats = this.probe === "stats" && operand.data && operand.data.length >= 3;
      const list = operand.data || [];
      this.dtype = operand.dtype; this.shape = operand.shape || [];
      const s = operand.stats ? given(operand) : stats ? statsOf(list.map(number), this.of) : summary(list);
      s.step = e.step !== undefined ? e.step : this.count;
      this.last = s;
      this.nans += s.nan; this.infinities += s.inf + s.ninf;
      if ((s.nan > 0 || s.inf + s.ninf > 0) && this.bad++ === 0) this.firstBad = s.step;
      if (this.count % this.stride === 0) {
        this.x.push(s.step); this.y.push(s.mean); this.low.push(s.min); this.high.push(s.max);
        if (this.x.length >= POINTS) {
          const half = (a) => a.filter((_, i) => i % 2 === 0);
          this.x = half(this.x); this.y = half(this.y); this.low = half(this.low); this.high = half(this.high);
          this.stride *= 2;
        }
      }
      this.count++;
      if (s.n > 1) {
        this.kept.push(s);
        if (this.kept.length > KEEP) this.kept.shift();
      }
    }

    get scalar() { return this.shape.length === 0 || this.shape.every((d) => d === 1); }

    // atStep returns the last summary that is known at a step.
    atStep(step) {
      if (step < 0) return this.last;
      let best = null;
      for (const s of this.kept) if (s.step <= step) best = s;
      if (best) return best;
      let k = -1;
      for (let lo = 0, hi = this.x.length - 1; lo <= hi;) { const m = (lo + hi) >> 1; if (this.x[m] <= step) { k = m; lo = m + 1; } else hi = m - 1; }
      return k < 0 ? null : { mean: this.y[k], min: this.low[k], max: this.high[k], step: this.x[k], partial: true };
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
    if (finite === 0) s.min = s.max = NaN;
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
    const s = sourceNamed((source || e.process || "live") + (e.device > 0 ? ", device " + e.device : ""));
    s.count++;
    total++;
    e.operands.forEach((operand, k) => {
      const key = (e.id || [e.hook, e.loc, e.probe].join(" ")) + " " + k; // a table has no probe, and one location
      let series = s.series.get(key);
      if (!series) { series = new Series(key, e, k); s.series.set(key, series); }
      const bad = series.bad;
      series.add(operand, e);
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
    // A browser tries again each second. If nobody answers four times, the program has ended without a word.
    let failures = 0;
    stream.onopen = () => { connection = "live"; failures = 0; schedule(); };
    stream.onerror = () => { connection = stream.readyState === 2 || ++failures > 4 ? "ended" : "waiting"; schedule(); };
    stream.addEventListener("dropped", (m) => { dropped = JSON.parse(m.data).events; schedule(); });
    stream.addEventListener("end", () => { connection = "ended"; stream.close(); schedule(); });
    return stream;
  };
  let connection = "", dropped = 0;

  function schedule() {
    if (dirty) return;
    dirty = true;
    setTimeout(() => { dirty = false; if (!paused) { render(); hlocb.counts(); } rate(); }, 120);
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
    let longest = 0; // the last step of all values
    for (const s of sources) for (const x of s.series.values()) if (x.last) longest = Math.max(longest, x.last.step);
    $("scrub").hidden = longest < 1;
    $("scrub-at").max = longest;
    if (scrub < 0) $("scrub-at").value = longest;
    $("scrub-text").textContent = scrub < 0 ? "latest" : `${scrub} of ${longest}`;
    $("beside").hidden = sources.length < 2;
  }

  const format = (v) => hlocb.formatNumber(v);

  // Card is the place of one value: a panel for all sources, or one for each if they stand side by side.
  class Card {
    constructor(key, series) {
      this.key = key;
      this.series = series;
      this.head = el("button", { type: "button", class: "link", onclick: () => { const list = itemsOf(series); if (list.length) hlocb.goto(list[0]); } }, series.hook || "value");
      this.now = el("span", { class: "now" });
      this.panels = [];
      this.holder = el("div", { class: "panels" });
      this.element = el("article", { class: "card" },
        el("h3", {}, this.head, el("span", { class: "kind" }, [series.probe || series.kind, series.operand > 0 ? "operand " + series.operand : ""].filter(Boolean).join(" · ")), this.now),
        el("p", { class: "place" }, series.place), this.holder);
    }

    update() {
      const lines = sources.map((s, k) => [s, s.series.get(this.key), k]).filter((x) => x[1]);
      const first = lines[0][1];
      const current = lines.map(([s, x, k]) => [s, x.atStep(scrub), k]).filter((x) => x[1]);
      this.element.classList.toggle("bad", lines.some(([, x]) => x.bad > 0));
      const tensor = !first.scalar && first.probe !== "stats";
      this.now.replaceChildren(...current.map(([s, v, k]) => el("span", { class: "source-" + k % colors.length, title: sources.length > 1 ? s.name : "" }, tensor ? "mean " + format(v.mean) : format(v.mean))));
      const shape = (first.of || (first.dtype || "") + "[" + (first.shape || []).join(",") + "]");
      this.now.append(el("span", { class: "shape" }, shape));
      const groups = beside && lines.length > 1 ? lines.map((x) => [x]) : [lines];
      if (this.panels.length !== groups.length) {
        for (const p of this.panels) p.end();
        this.panels = groups.map(() => new Panel());
        this.holder.replaceChildren(...this.panels.map((p) => p.element));
      }
      this.panels.forEach((p, i) => p.update(groups[i], groups.length > 1 ? lines : null, tensor || first.probe === "stats"));
    }
  }

  // Panel shows a value in some sources: a curve, and of a tensor health counts and a histogram.
  class Panel {
    constructor() {
      this.name = el("p", { class: "panel-name", hidden: true });
      this.chart = el("div", { class: "chart" });
      this.health = el("div", { class: "health" });
      this.histogram = el("canvas", { class: "histogram", width: 560, height: 90, role: "img", "aria-label": "Histogram" });
      this.element = el("div", { class: "panel" }, this.name, this.chart, this.health, this.histogram);
    }

    end() { if (this.plot) this.plot.destroy(); }

    // update draws lines: sources with their series and numbers. all are the lines of the panels beside it, which have
    // the same scales; null if there is no other panel.
    update(lines, all, band) {
      const at = (list) => list.map(([s, x, k]) => [s, x.atStep(scrub), k]).filter((x) => x[1]);
      const current = at(lines);
      this.name.hidden = !all;
      this.name.textContent = lines[0][0].name;
      this.name.className = "panel-name source-" + lines[0][2] % colors.length;
      this.curve(lines, all || lines, band);
      this.counts(lines, current, band);
      const sample = current.length && current[0][1].sample;
      this.histogram.hidden = !sample || sample.length < 2;
      if (!this.histogram.hidden) this.bars(current, all ? at(all) : current);
    }

    curve(lines, all, band) {
      const longest = Math.max(...all.map(([, s]) => s.x.length));
      if (longest < 2) { this.chart.hidden = true; return; }
      this.chart.hidden = false;
      const style = getComputedStyle(document.documentElement);
      const color = (name) => style.getPropertyValue("--" + name).trim();
      const tables = [];
      const series = [{}];
      for (const [source, s, k] of lines) {
        if (band && lines.length === 1) {
          tables.push([s.x, s.low.map(finite)], [s.x, s.high.map(finite)]);
          series.push({ label: "min", stroke: color("muted"), width: 1 }, { label: "max", stroke: color("muted"), width: 1 });
        }
        tables.push([s.x, s.y.map(finite)]);
        series.push({ label: source.name, stroke: color(colors[k % colors.length]), width: 1.6, dash: k > 0 ? [5, 4] : undefined, points: { show: s.x.length < 40 } });
      }
      // The panels of a card have one scale.
      this.range = null;
      if (all.length > lines.length) {
        let left = Infinity, right = -Infinity, low = Infinity, high = -Infinity;
        for (const [, s] of all) {
          left = Math.min(left, s.x[0]); right = Math.max(right, s.x[s.x.length - 1]);
          for (const list of band ? [s.low, s.high] : [s.y]) for (const v of list) if (Number.isFinite(v)) { low = Math.min(low, v); high = Math.max(high, v); }
        }
        const edge = high > low ? (high - low) * 0.05 : 1;
        this.range = { x: [left, Math.max(right, left + 1)], y: low <= high ? [low - edge, high + edge] : [0, 1] };
      }
      const signature = lines.map(([, , k]) => k).join() + " " + (this.range !== null) + " " + hlocb.dark();
      const table = uPlot.join(tables.map(([x, y]) => [x, y]));
      const width = Math.max(120, this.element.clientWidth || 260);
      const scale = (name) => ({ time: false, range: (u, min, max) => this.range ? this.range[name] : name === "x" ? [min, max] : uPlot.rangeNum(min, max, 0.1, true) });
      if (!this.plot || this.signature !== signature) {
        if (this.plot) this.plot.destroy();
        const axis = { stroke: color("muted"), grid: { stroke: color("card-line"), width: 1 }, ticks: { show: false }, font: "10px system-ui", size: 28 };
        this.plot = new uPlot({ width, height: 120, legend: { show: false }, cursor: { y: false, drag: { x: true, y: false } }, scales: this.range ? { x: scale("x"), y: scale("y") } : { x: { time: false } },
          axes: [{ ...axis, size: 20 }, { ...axis, size: 48, values: (u, list) => list.map(tick) }], series, padding: [6, 8, 0, 0], hooks: { draw: [(u) => this.cursor(u)] } }, table, this.chart);
        this.signature = signature;
      } else {
        if (this.plot.width !== width) this.plot.setSize({ width, height: 120 });
        this.plot.setData(table);
      }
    }

    // cursor draws the step that is shown.
    cursor(u) {
      if (scrub < 0) return;
      const x = u.valToPos(scrub, "x", true);
      u.ctx.save();
      u.ctx.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--select").trim();
      u.ctx.lineWidth = 2;
      u.ctx.setLineDash([]);
      u.ctx.beginPath(); u.ctx.moveTo(x, u.bbox.top); u.ctx.lineTo(x, u.bbox.top + u.bbox.height); u.ctx.stroke();
      u.ctx.restore();
    }

    counts(lines, current, show) {
      const bad = lines.filter(([, x]) => x.firstBad >= 0).map(([, x, k]) => el("p", { class: "count-bad first-bad source-" + k % colors.length }, "NaN or infinite first in step " + x.firstBad));
      this.health.hidden = (!show || !current.length) && bad.length === 0;
      if (this.health.hidden) return;
      const rows = show ? current.filter(([, v]) => !v.partial).map(([, v, k]) => {
        const parts = v.stats ? [["NaN", v.nan, "nan"], ["±inf", v.inf, "nan"], ["min", v.min], ["max", v.max]]
          : [["−inf", v.ninf, "nan"], ["−", v.neg], ["0", v.zero], ["+", v.pos], ["+inf", v.inf, "nan"], ["NaN", v.nan, "nan"], ["min", v.min], ["max", v.max]];
        return el("div", { class: "counts source-" + k % colors.length }, ...parts.map(([name, x, cls]) => el("span", { class: cls && x > 0 ? "count-bad" : "" }, el("small", {}, name), " " + format(x))));
      }) : [];
      this.health.replaceChildren(...rows, ...bad);
    }

    // bars draws histograms with the range of all lists.
    bars(current, all) {
      const c = this.histogram, g = c.getContext("2d");
      const style = getComputedStyle(document.documentElement);
      g.clearRect(0, 0, c.width, c.height);
      const sampled = ([, v]) => v.sample && v.sample.length > 1;
      const lists = current.filter(sampled);
      let min = Infinity, max = -Infinity;
      for (const [, v] of all.filter(sampled)) { min = Math.min(min, v.min); max = Math.max(max, v.max); }
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
  const tick = (v) => { const a = Math.abs(v); return v === 0 ? "0" : a >= 1e5 || a < 1e-3 ? v.toExponential(1).replace("e+", "e") : String(Number(v.toPrecision(4))); };

  // openFiles reads recordings, their files of large values, and files of 'run --events'.
  async function openFiles(files) {
    const list = [...files], problems = [];
    $("values-pane").hidden = false;
    for (const f of list.filter((f) => !f.name.endsWith(".data"))) {
      try {
        if (await hlocb.parquet.is(f)) await hlocb.parquet.read(f, (e) => hlocb.event(e, (e.process || "") === "" ? f.name : f.name + ", " + e.process));
        else await openLines(f, list.find((d) => d.name === f.name + ".data"));
      } catch (e) { problems.push(`${f.name}: ${e.message}`); }
    }
    tell(problems.join("; "));
    render(); rate();
  }

  // openLines reads lines of JSON. Values with a position are in the file data.
  async function openLines(f, data) {
    let broken = 0;
    for (const line of (await f.text()).split("\n")) {
      if (line.trim() === "") continue;
      let e;
      try { e = JSON.parse(line); } catch (x) { broken++; continue; }
      for (const o of e.operands || []) {
        if (o.at === undefined) continue;
        if (!data) throw new Error(`its large values are in ${f.name}.data: open both files together`);
        o.data = await elements(data, o);
      }
      hlocb.event(e, f.name);
    }
    if (broken > 0) throw new Error(`${broken} lines are not JSON`);
  }

  // elements reads a sample of a value in a file of large values.
  async function elements(file, o) {
    const n = o.shape.reduce((a, d) => a * d, 1);
    const size = { i1: 1, s8: 1, u8: 1, i8: 1, ui8: 1, s16: 2, i16: 2, u16: 2, ui16: 2, f16: 2, bf16: 2, s32: 4, i32: 4, u32: 4, ui32: 4, f32: 4, s64: 8, i64: 8, u64: 8, ui64: 8, f64: 8 }[o.dtype];
    if (!size) throw new Error(`element type ${o.dtype} of a large value: 'hlocb view --recording' shows it`);
    if (o.at + n * size > file.size) throw new Error(`${file.name} ends before a value`);
    const view = new DataView(await file.slice(o.at, o.at + n * size).arrayBuffer());
    const half = (bits) => { const s = bits >> 15 ? -1 : 1, e = bits >> 10 & 31, m = bits & 1023; return e === 31 ? (m ? NaN : s * Infinity) : e === 0 ? s * m * 2 ** -24 : s * (1 + m / 1024) * 2 ** (e - 15); };
    const brain = (bits) => { const b = new DataView(new ArrayBuffer(4)); b.setUint32(0, bits << 16); return b.getFloat32(0); };
    const unsigned = o.dtype.startsWith("u");
    const get = o.dtype === "i1" ? (i) => view.getUint8(i) !== 0
      : o.dtype === "f16" ? (i) => half(view.getUint16(i, true)) : o.dtype === "bf16" ? (i) => brain(view.getUint16(i, true))
      : o.dtype === "f32" ? (i) => view.getFloat32(i, true) : o.dtype === "f64" ? (i) => view.getFloat64(i, true)
      : size === 8 ? (i) => Number(unsigned ? view.getBigUint64(i, true) : view.getBigInt64(i, true))
      : (i) => view[`get${unsigned ? "Uint" : "Int"}${8 * size}`](i, true);
    const out = new Array(n);
    for (let k = 0; k < n; k++) out[k] = get(k * size);
    return out;
  }

  // tell says what is wrong with the files that were opened.
  function tell(text) {
    const box = $("values-problem");
    box.hidden = text === "";
    box.textContent = text;
  }

  function start() {
    $("filter").addEventListener("input", (e) => { filter = e.target.value; render(); });
    $("pause").addEventListener("click", () => { paused = !paused; $("pause").textContent = paused ? "Continue" : "Pause"; $("pause").setAttribute("aria-pressed", String(paused)); if (!paused) render(); });
    $("open-recording").addEventListener("click", () => $("recording-file").click());
    $("recording-file").addEventListener("change", (e) => openFiles(e.target.files));
    $("values-pane").addEventListener("dragover", (e) => e.preventDefault());
    $("values-pane").addEventListener("drop", (e) => { e.preventDefault(); openFiles(e.dataTransfer.files); });
    $("beside").addEventListener("click", () => { beside = !beside; $("beside").setAttribute("aria-pressed", String(beside)); $("values-pane").classList.toggle("wide", beside); render(); });
    $("scrub-at").addEventListener("input", (e) => { const v = Number(e.target.value); scrub = v >= Number(e.target.max) ? -1 : v; render(); });
    for (const r of data.recordings || []) {
      $("values-pane").hidden = false;
      hlocb.event(r.events, r.name);
    }
    if (data.live) hlocb.source(data.live);
    rate();
  }

  // numbers returns a count for each op whose values the page has.
  const kinds = new Map([["events", (x) => x.count], ["NaN", (x) => x.nans], ["infinities", (x) => x.infinities]]);
  function numbers(kind) {
    const out = new Map();
    for (const s of sources) for (const x of s.series.values()) {
      if (kind === "events" && x.operand > 0) continue;
      for (const i of itemsOf(x)) out.set(i, (out.get(i) || 0) + kinds.get(kind)(x));
    }
    return out;
  }

  // mark marks the cards of the selected op.
  function mark() {
    for (const card of cards.values()) card.element.classList.toggle("selected", hlocb.state.item >= 0 && itemsOf(card.series).includes(hlocb.state.item));
  }

  // sizes returns the number of points of each curve, for tests.
  const sizes = () => sources.flatMap((s) => [...s.series.values()].map((x) => x.x.length));

  hlocb.values = { start, render, mark, openFiles, numbers, kinds: [...kinds.keys()], sizes };
})(window.hlocb);

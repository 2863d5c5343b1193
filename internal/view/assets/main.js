// The state of the page, and what changes it: selection, folds, steps, keys, the address.
"use strict";
(function (hlocb) {
  const { data, items, n, strings, definer, children, shape } = hlocb.model;
  const { el, $ } = hlocb;
  const L = hlocb.layout, G = hlocb.graph;

  // state is everything that the panes show. item is the selected item, values the selected values. before is the step
  // on the left if two are shown side by side; marks and beforeMarks say how they differ.
  const state = hlocb.state = {
    step: null, index: 0, marks: null, before: null, beforeMarks: null, item: -1, values: new Set(), matches: null, query: "", overlay: null, nan: new Set(), aliasEdges: new Map(),
    path: null, pathItems: null, pathEdges: null, start: -1,
  };
  // labelOf is the text on an item: of a hook its name, of an argument the value's name.
  hlocb.labelOf = (i) => hlocb.labelIn(i, stepOf(i));
  hlocb.labelIn = (i, step) => {
    if (items.kind[i] === hlocb.ARG) return step.valueName(items.value[i]) || strings[items.label[i]];
    const hook = items.kind[i] === hlocb.OP ? step.hookOf(i) : null;
    return hook && hook.name ? hook.name : strings[items.label[i]];
  };

  hlocb.dark = () => {
    const t = document.documentElement.dataset.theme;
    return t ? t === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  };

  // stepOf returns the step that has an item: the one that is shown, or the one on its left.
  const stepOf = (i) => state.before && !state.step.exists(i) && state.before.exists(i) ? state.before : state.step;

  // select selects an item, and the values that it defines.
  hlocb.select = function (i) {
    state.item = i;
    state.values = new Set(i >= 0 ? stepOf(i).valuesOf(i) : []);
    selected();
  };
  hlocb.selectValue = function (v) {
    state.item = definer[v];
    state.values = new Set([v]);
    if (L.representative[state.item] !== state.item && !$("graph-pane").hidden) { L.reveal(state.item); G.relayout(state.item); hlocb.search.mark(); }
    selected();
  };
  function selected() {
    if (state.item >= 0) G.show(state.item); else G.draw();
    hlocb.text.scrollTo(state.item >= 0 ? state.item : 0);
    hlocb.text.render(true);
    hlocb.outline.update();
    if (state.item >= 0) hlocb.outline.scrollTo(state.item);
    hlocb.outline.hooks();
    hlocb.values.mark();
    details();
    hlocb.remember();
    $("announce").textContent = state.item >= 0 ? hlocb.labelOf(state.item) : "";
  }

  // goto opens the boxes around an item and selects it.
  hlocb.goto = function (i, centre) {
    if (i === undefined || i < 0) return;
    if (L.reveal(i)) { G.relayout(); hlocb.search.mark(); }
    hlocb.select(i);
    if (centre !== false) G.centre(i);
  };

  hlocb.toggle = function (i) {
    if (!L.isBox(i)) {
      const f = state.step.callee.get(i);
      if (f !== undefined) hlocb.goto(f);
      return;
    }
    L.setOpen(i, !L.open[i]);
    G.relayout(i);
    hlocb.search.mark();
    if (state.query) hlocb.search.find(state.query);
    hlocb.outline.update();
    hlocb.remember();
  };

  hlocb.showStep = function (k) {
    k = Math.max(0, Math.min(data.steps.length - 1, k));
    const moved = k !== state.index;
    state.index = k;
    state.step = hlocb.model.step(k);
    if (state.before && moved) state.before = hlocb.model.step(Math.max(0, k - 1));
    mark();
    hlocb.placeIndex = null;
    aliases();
    if (state.item >= 0) state.values = new Set(stepOf(state.item).valuesOf(state.item));
    if (state.query) hlocb.search.find(state.query);
    G.stepChanged();
    hlocb.text.render(true);
    hlocb.outline.update();
    hlocb.outline.hooks();
    hlocb.passes.update();
    details();
    hlocb.remember();
  };

  // mark finds how the steps that are shown differ.
  function mark() {
    if (state.before) [state.beforeMarks, state.marks] = hlocb.model.between(state.before, state.step);
    else state.marks = state.step.marks;
    for (const id of ["graph-before-half", "text-before", "after"]) $(id).hidden = !state.before;
    $("show-beside").setAttribute("aria-pressed", String(state.before !== null));
    if (!state.before) return;
    $("before").value = state.before.index;
    $("after").textContent = state.step.head.name;
  }

  // beside shows a step on the left of the step that is shown; -1 ends that.
  function beside(k) {
    if (data.steps.length < 2) return;
    state.before = k >= 0 && k < data.steps.length ? hlocb.model.step(k) : null;
    hlocb.showStep(state.index);
  }
  const besideKey = () => beside(state.before ? -1 : Math.max(0, state.index - 1));
  function besideMenu() {
    if (data.steps.length < 2) return;
    $("show-beside").hidden = false;
    $("show-beside").addEventListener("click", besideKey);
    $("before").append(...data.steps.map((s, k) => el("option", { value: k }, s.name)));
    $("before").addEventListener("change", (e) => beside(Number(e.target.value)));
  }

  // aliases finds the operands that share memory with a result, by item and operand.
  function aliases() {
    state.aliasEdges = new Map();
    if (!data.hooks) return;
    for (const a of data.hooks.aliases) {
      const i = state.step.hookItem.get(a.hook);
      if (i === undefined || a.operand < 0) continue;
      const first = data.hooks.sites[a.hook].chained && state.step.operandsOf(i).some((v) => state.step.chain.has(v)) ? 1 : 0;
      state.aliasEdges.set(i * 64 + a.operand + first, a.verdict);
    }
  }

  // tapPattern returns a pattern that selects the value of an op, and as few others as possible; or "". A tap sees the
  // module as it is in its file, so only names that are there count.
  function tapPattern(i) {
    const step = state.step, v = step.valuesOf(i)[0];
    if (v === undefined) return "";
    if (!step.namesakes) { // how many values have a name, and a place
      step.namesakes = new Map();
      const count = (key) => { if (key) step.namesakes.set(key, (step.namesakes.get(key) || 0) + 1); };
      for (const k of step.items) {
        for (const w of step.valuesOf(k)) count(step.writtenName(w));
        if (step.valuesOf(k).length > 0) count(step.locOf(k).place);
      }
    }
    const exact = (s) => s.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    const place = step.locOf(i).place, name = step.writtenName(v);
    const byName = name ? "^" + exact(name) + "$" : "", byPlace = place ? exact(place) + "\\b" : "";
    if (byName && byPlace) return step.namesakes.get(name) <= step.namesakes.get(place) ? byName : byPlace;
    return byName || byPlace;
  }

  // tapValue shows the flag that observes a value on the next run, and tells the server of a running program.
  async function tapValue(pattern, out) {
    const flag = "--tap '" + pattern.replaceAll("'", "'\\''") + "'";
    out.textContent = flag;
    out.hidden = false;
    if (navigator.clipboard) navigator.clipboard.writeText(flag).catch(() => {});
    if (!data.live) return;
    const answer = await fetch(data.live.replace(/^events/, "tap"), { method: "POST", body: JSON.stringify({ at: pattern }) }).catch(() => null);
    if (answer) out.textContent = await answer.text();
  }

  // details fills the line at the bottom: the text, location and numbers of the selected op.
  function details() {
    const box = $("source"), i = state.item, step = i < 0 ? state.step : stepOf(i);
    if (i < 0) {
      box.replaceChildren(el("span", { class: "hint" }, "Click an op, a value or a box. Press ? for the keys."));
      return;
    }
    const parts = [];
    const l = step.locOf(i);
    const text = hlocb.text.opText(step, i);
    const line = el("div", { class: "op-text" }, text || hlocb.labelOf(i) + (step.removed.has(i) ? " (removed in this step)" : ""));
    parts.push(line);
    const facts = el("div", { class: "facts" });
    if (l.place) facts.append(el("span", { class: "place", title: l.text }, l.place));
    if (l.name && l.name !== l.place) facts.append(el("span", { class: "scope" }, l.name));
    const value = step.valuesOf(i)[0], name = value === undefined ? "" : step.writtenName(value);
    const hook = step.hookOf(i);
    if (name && !hook && name !== step.valueName(value)) facts.append(el("span", { class: "scope" }, name + " in the file"));
    const types = step.typesOf(i);
    if (types.length) facts.append(el("span", { class: "type", title: types.join(", ") }, types.slice(0, 4).map(shape).join(", ") + (types.length > 4 ? ", …" : "")));
    const users = step.valuesOf(i).reduce((k, v) => k + step.usersOf(v).length, 0);
    if (step.exists(i)) facts.append(el("span", {}, users === 1 ? "1 use" : users + " uses"));
    for (const o of overlays) if (o.number.has(i)) facts.append(el("span", { class: "badge" }, `${o.name}: ${hlocb.formatNumber(o.number.get(i))} ${o.unit}`));
    if (hook) facts.append(el("span", { class: "badge hook" }, `hook ${hook.name} (${hook.kind}, ${hook.format})`));
    const pattern = step.exists(i) && !hook ? tapPattern(i) : ""; // a hook is observed already
    if (pattern) {
      facts.append(el("button", { type: "button", class: "link", title: "Copy the flag that prints this value on the next run",
        onclick: (e) => tapValue(pattern, e.target.nextSibling) }, "Tap this value"), el("code", { class: "flag", hidden: true }));
    }
    for (const rule of step.rulesOf(i)) facts.append(el("span", { class: "badge" }, "by rule " + rule));
    const path = el("button", { type: "button", class: "link", title: "Path between two ops (p)", onclick: pathKey }, state.start >= 0 && state.start !== i ? `Path from ${hlocb.labelOf(state.start)}` : "Path from here");
    if (step.exists(i)) facts.append(path);
    parts.push(facts);
    if (l.line) parts.push(el("div", { class: "source-line" }, el("span", { class: "place" }, l.place.replace(/^.*\//, "") + "  "), l.line));
    if (l.text && l.text !== `"${l.place}"`) parts.push(el("div", { class: "location" }, l.text));
    box.replaceChildren(...parts);
  }

  // pathKey marks the start of a path, or finds the path from the start to the selected op.
  function pathKey() {
    if (state.item < 0) return;
    if (state.start < 0 || state.start === state.item) { state.start = state.item; $("announce").textContent = "path starts here"; details(); return; }
    hlocb.search.path(state.start, state.item, false);
    state.start = -1;
  }

  // Numbers on ops: of files and commands, and counts of the values that the page has.
  function overlayOf(name, unit, number) {
    let max = 0;
    for (const v of number.values()) max = Math.max(max, Math.abs(v));
    const inside = new Map(); // a folded box shows the sum of the numbers inside
    for (const [i, v] of number) for (const p of hlocb.model.ancestors(i)) inside.set(p, (inside.get(p) || 0) + v);
    for (const [i, v] of inside) if (!number.has(i)) number.set(i, v);
    const scale = new Map();
    for (const [i, v] of number) scale.set(i, max > 0 ? Math.min(1, Math.sqrt(Math.abs(v) / max)) : 0);
    return { name, unit, number, scale };
  }
  const overlays = (data.overlays || []).map((o) => {
    const number = new Map();
    o.items.forEach((i, k) => number.set(i, o.value[k]));
    return Object.assign(overlayOf(o.name, o.unit, number), { lost: o.lost });
  });
  let counted = false; // the menu has the counts of values
  function overlayMenu() {
    const menu = $("overlay");
    menu.append(el("option", { value: "" }, "no numbers"), ...overlays.map((o, k) => el("option", { value: k }, o.name + (o.lost > 0 ? ` (${o.lost.toLocaleString("en")} without an op)` : ""))));
    menu.addEventListener("change", () => { choose(); hlocb.remember(); });
    menu.hidden = overlays.length === 0;
    menu.value = overlays.length > 0 ? "0" : "";
    choose();
  }
  function choose() {
    const value = $("overlay").value;
    state.overlay = value === "" ? null : overlays[value] || overlayOf(value, "", hlocb.values.numbers(value));
    if (state.step) { G.draw(); hlocb.text.render(true); }
  }
  // counts offers the counts of events, NaN and infinities once there are values, and keeps a shown one up to date.
  hlocb.counts = function () {
    if (!counted) $("overlay").append(...hlocb.values.kinds.map((k) => el("option", { value: k }, k)));
    counted = true;
    $("overlay").hidden = false;
    if (state.overlay && !overlays.includes(state.overlay)) choose();
  };

  hlocb.nanChanged = () => { G.draw(); hlocb.text.render(true); hlocb.outline.update(); };

  // Panes.
  function showPanes(graph, text) {
    $("graph-pane").hidden = !graph;
    $("text-pane").hidden = !text;
    $("show-graph").setAttribute("aria-pressed", String(graph));
    $("show-text").setAttribute("aria-pressed", String(text));
    hlocb.text.render(true);
    if (text && state.item >= 0) hlocb.text.scrollTo(state.item);
    hlocb.remember();
  }
  const shown = () => [!$("graph-pane").hidden, !$("text-pane").hidden];

  function legend() {
    const parts = [["matrix", "matrix"], ["reduce", "reduction"], ["element", "elementwise"], ["move", "data movement"], ["control", "control"], ["constant", "constant"], ["hook", "hook"]];
    const out = parts.map(([c, name]) => el("span", {}, el("i", { class: "c-" + c }), name));
    if (data.hooks) out.push(el("span", {}, el("i", { class: "line chain" }), "order"));
    $("legend").replaceChildren(...out);
  }

  // The address keeps the state, so that a link shows the same.
  let remembering = null;
  hlocb.remember = function () {
    if (remembering) return;
    remembering = setTimeout(() => {
      remembering = null;
      const p = new URLSearchParams();
      if (data.steps.length > 1) p.set("step", state.index);
      if (state.before) p.set("beside", state.before.index);
      else if (data.beside) p.set("beside", "");
      if (state.item >= 0) p.set("item", state.item);
      if (state.query) p.set("q", state.query);
      const [graph, text] = shown();
      if (!graph || text) p.set("view", (graph ? "g" : "") + (text ? "x" : ""));
      const open = [];
      for (let i = 1; i < n && open.length < 300; i++) if (L.open[i]) open.push(i.toString(36));
      p.set("open", open.join("."));
      const c = G.camera;
      p.set("at", [c.x.toFixed(0), c.y.toFixed(0), c.zoom.toFixed(3)].join(","));
      if (document.documentElement.dataset.theme) p.set("theme", document.documentElement.dataset.theme);
      try { history.replaceState(null, "", "#" + p.toString()); } catch (e) { /* a page without an address */ }
    }, 200);
  };
  function recall() {
    const p = new URLSearchParams(location.hash.slice(1));
    if (p.get("theme") === "dark" || p.get("theme") === "light") document.documentElement.dataset.theme = p.get("theme");
    const k = Number(p.get("step"));
    state.index = p.has("step") && data.steps[k] ? k : Math.max(0, data.steps.findIndex((s, i) => i > 0 && s.counts !== "no change"));
    state.step = hlocb.model.step(state.index);
    const left = p.has("beside") ? p.get("beside") : data.beside ? "0" : "";
    if (left !== "" && data.steps.length > 1 && data.steps[Number(left)]) state.before = hlocb.model.step(Number(left));
    mark();
    if (p.has("open")) {
      L.setAll(false);
      for (const s of p.get("open").split(".")) { const i = parseInt(s, 36); if (i > 0 && i < n) L.setOpen(i, true); }
    }
    return p;
  }

  // Keys.
  const keys = [
    ["/", "search"], ["n  N", "next, previous match"], ["↑ ↓ ← →", "follow operands, users, neighbours"], ["Enter", "open or fold a box, go to a called function"],
    ["e  c", "open all, fold all"], ["f", "fit into the window"], ["+ −", "zoom"], ["[  ]", "previous, next step"], ["s", "two steps side by side"], ["g  x", "graph, text"], ["v", "values"],
    ["p", "path: press it on the first op, then on the second"], ["d", "dark or light"], ["Esc", "clear search, path and selection"], ["?", "these keys"],
  ];
  function help() {
    const d = $("keys");
    if (d.open) { d.close(); return; }
    d.replaceChildren(el("h2", { id: "keys-title" }, "Keys"), el("table", {}, el("tbody", {}, ...keys.map(([k, what]) => el("tr", {}, el("th", { scope: "row" }, el("kbd", {}, k)), el("td", {}, what))))),
      el("form", { method: "dialog" }, el("button", {}, "Close")));
    d.showModal();
  }

  let waiting = null;
  function searchNow() {
    clearTimeout(waiting);
    const text = $("query").value;
    if (text === state.query) return;
    state.query = text;
    hlocb.search.find(text);
    G.draw();
    hlocb.text.render(true);
    hlocb.remember();
  }

  // follow selects an operand's definition, a user, or a neighbour in the layer.
  function follow(key) {
    const i = state.item, step = state.step;
    if (i < 0) { if (L.visible.length) hlocb.select(L.visible[0]); return; }
    let to = -1;
    const drawn = (k) => L.representative[k];
    if (key === "ArrowUp") { for (const v of step.operandsOf(i)) if (v >= 0 && drawn(definer[v]) !== i) { to = drawn(definer[v]); break; } }
    if (key === "ArrowDown") { for (const v of step.valuesOf(i)) { for (const u of step.usersOf(v)) if (drawn(u) !== i) { to = drawn(u); break; } if (to >= 0) break; } }
    const list = children[items.parent[i]] || [];
    const at = list.indexOf(i);
    if (key === "ArrowLeft") to = list[at - 1];
    if (key === "ArrowRight") to = list[at + 1];
    if ((key === "ArrowUp" || key === "ArrowDown") && to < 0 && L.isBox(i)) to = key === "ArrowDown" ? list[at + 1] : list[at - 1];
    if (key === "ArrowUp" && (to === undefined || to < 0) && items.parent[i] > 0) to = items.parent[i];
    if (to !== undefined && to >= 0) hlocb.select(to);
  }

  function key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey || $("keys").open) return;
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName);
    if (e.key === "Escape") { $("query").value = ""; state.query = ""; hlocb.search.find(""); hlocb.search.clearPath(); state.start = -1; if (typing) e.target.blur(); hlocb.select(-1); return; }
    if (typing) {
      if (e.target.id === "query" && e.key === "Enter") { searchNow(); hlocb.search.go(e.shiftKey ? -1 : 1); e.preventDefault(); }
      return;
    }
    const button = e.target.tagName === "BUTTON";
    const [graph, text] = shown();
    switch (e.key) {
      case "/": $("query").focus(); $("query").select(); break;
      case "n": hlocb.search.go(1); break;
      case "N": hlocb.search.go(-1); break;
      case "ArrowUp": case "ArrowDown": case "ArrowLeft": case "ArrowRight": if (e.target.id === "text") return; follow(e.key); break;
      case "Enter": case " ": if (button) return; if (state.item >= 0) hlocb.toggle(state.item); break;
      case "e": all(true); break;
      case "c": all(false); break;
      case "f": G.fit(true); break;
      case "+": case "=": case "-": { const b = G.canvas.getBoundingClientRect(); G.zoomAt(e.key === "-" ? 0.8 : 1.25, b.left + b.width / 2, b.top + b.height / 2); break; }
      case "[": hlocb.showStep(state.index - 1); break;
      case "]": hlocb.showStep(state.index + 1); break;
      case "s": besideKey(); break;
      case "g": showPanes(!graph || !text, text || graph && !text ? text : true); break;
      case "x": showPanes(graph && true, !text || !graph); break;
      case "v": $("values-pane").hidden = !$("values-pane").hidden; hlocb.values.render(); break;
      case "p": pathKey(); break;
      case "d": theme(); break;
      case "?": help(); break;
      default: return;
    }
    e.preventDefault();
  }

  function all(open) {
    L.setAll(open);
    if (!open) for (const f of children[0] || []) if ((children[0] || []).length === 1) L.setOpen(f, true);
    G.relayout();
    hlocb.search.mark();
    if (state.query) hlocb.search.find(state.query);
    G.fit(true);
    hlocb.outline.update();
    hlocb.remember();
  }

  function theme() {
    document.documentElement.dataset.theme = hlocb.dark() ? "light" : "dark";
    G.readColors();
    G.draw();
    hlocb.values.render();
    hlocb.remember();
  }

  function splitters() {
    for (const s of document.querySelectorAll(".splitter")) {
      s.addEventListener("pointerdown", (e) => {
        const pane = $(s.dataset.pane), left = pane.compareDocumentPosition(s) & Node.DOCUMENT_POSITION_FOLLOWING;
        const start = e.clientX, width = pane.getBoundingClientRect().width;
        s.setPointerCapture(e.pointerId);
        const move = (m) => { pane.style.flexBasis = Math.max(120, width + (left ? m.clientX - start : start - m.clientX)) + "px"; };
        s.addEventListener("pointermove", move);
        s.addEventListener("pointerup", () => s.removeEventListener("pointermove", move), { once: true });
      });
    }
  }

  function start() {
    $("title").textContent = data.title;
    L.openSome(160);
    besideMenu();
    const p = recall();
    aliases();
    overlayMenu();
    hlocb.passes.build();
    G.readColors();
    legend();
    const view = p.get("view");
    showPanes(!view || view.includes("g"), Boolean(view && view.includes("x")));
    hlocb.values.start();
    G.resize();
    G.relayout();
    G.fit(false);
    if (p.has("q")) { state.query = $("query").value = p.get("q"); hlocb.search.find(state.query); }
    hlocb.outline.update();
    hlocb.outline.hooks();
    hlocb.passes.update();
    const item = Number(p.get("item"));
    if (p.has("item") && item > 0 && item < n) hlocb.select(item); else details();
    const [x, y, zoom] = (p.get("at") || "").split(",").map(Number);
    if ([x, y, zoom].every(Number.isFinite) && zoom > 0) { Object.assign(G.camera, { x, y, zoom }); G.draw(); }

    $("query").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(searchNow, 60); });
    $("next").addEventListener("click", () => hlocb.search.go(1));
    $("previous").addEventListener("click", () => hlocb.search.go(-1));
    $("show-graph").addEventListener("click", () => { const [g, x] = shown(); showPanes(!g || !x, x); });
    $("show-text").addEventListener("click", () => { const [g, x] = shown(); showPanes(g, !x || !g); });
    $("fold-all").addEventListener("click", () => all(false));
    $("open-all").addEventListener("click", () => all(true));
    $("fit").addEventListener("click", () => G.fit(true));
    $("theme").addEventListener("click", theme);
    $("help").addEventListener("click", help);
    document.addEventListener("keydown", key);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { G.readColors(); G.draw(); });
    addEventListener("beforeprint", G.beforePrint);
    addEventListener("afterprint", G.afterPrint);
    splitters();
    requestAnimationFrame(() => { document.documentElement.dataset.ready = "1"; });
  }
  start();
})(window.hlocb);

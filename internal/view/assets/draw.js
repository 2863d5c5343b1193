// Draws the open boxes on a canvas: only what is in the window, and text only where it can be read.
"use strict";
(function (hlocb) {
  const { items, children, strings, definer, shape, classOf, data } = hlocb.model;
  const L = hlocb.layout;
  const FAR = 420; // a longer edge is faint
  // The graph of the step, and of the step on its left if two are shown side by side. Both have one camera.
  const graphOf = (id, step, marks) => { const canvas = hlocb.$(id); return { canvas, context: canvas.getContext("2d"), step, marks, edges: null }; };
  const main = graphOf("graph", () => hlocb.state.step, () => hlocb.state.marks);
  const left = graphOf("graph-before", () => hlocb.state.before, () => hlocb.state.beforeMarks);
  const graphs = [main, left];
  const canvas = main.canvas;
  const camera = { x: 0, y: 0, zoom: 1 };
  let colors = {};
  let wanted = false;

  function readColors() {
    const style = getComputedStyle(document.documentElement);
    const get = (name) => style.getPropertyValue("--" + name).trim();
    colors = {};
    for (const name of ["canvas", "card", "card-line", "box", "box-line", "ink", "muted", "edge", "accent", "select", "match", "chain", "hook",
      "added", "changed", "removed", "moved", "free", "copied", "refused", "nan", "path",
      "matrix", "constant", "reduce", "move", "control", "host", "frame", "element"]) colors[name] = get(name);
  }

  let printing = null; // the camera and the theme before printing
  const pixelRatio = () => printing ? 2 : window.devicePixelRatio || 1;

  // beforePrint draws everything in light colours for a page of paper; afterPrint draws the window again.
  function beforePrint() {
    printing = { camera: { ...camera }, theme: document.documentElement.dataset.theme };
    document.documentElement.dataset.theme = "light";
    readColors();
    for (const { canvas } of graphs) [canvas.width, canvas.height] = [2 * 1400, 2 * 800];
    fit(true);
    paint();
  }
  function afterPrint() {
    Object.assign(camera, printing.camera);
    if (printing.theme) document.documentElement.dataset.theme = printing.theme;
    else delete document.documentElement.dataset.theme;
    printing = null;
    readColors();
    resize();
  }

  let shownWidth = 0, shownHeight = 0;
  function resize() {
    if (printing) return;
    const ratio = pixelRatio();
    const box = canvas.parentElement.getBoundingClientRect();
    if (shownWidth > 1 && box.width > 1) { // what is in the middle stays there
      camera.x += (shownWidth - box.width) / 2 / camera.zoom;
      camera.y += (shownHeight - box.height) / 2 / camera.zoom;
    }
    [shownWidth, shownHeight] = [box.width, box.height];
    for (const { canvas } of graphs) {
      canvas.width = Math.max(1, Math.round(box.width * ratio)); // both halves are equal
      canvas.height = Math.max(1, Math.round(box.height * ratio));
    }
    paint(); // at once: a new size empties the canvas
  }

  function draw() {
    if (wanted) return;
    wanted = true;
    requestAnimationFrame(() => { wanted = false; paint(); });
  }

  // relayout computes positions and edges anew. anchor is an item that stays where it is on the screen.
  function relayout(anchor) {
    let sx = 0, sy = 0;
    const keep = anchor !== undefined && anchor >= 0;
    if (keep) { const r = L.representative[anchor]; sx = L.x[r] - camera.x; sy = L.y[r] - camera.y; }
    L.layout();
    for (const x of graphs) x.edges = null;
    if (keep) { const r = L.representative[anchor]; camera.x = L.x[r] - sx; camera.y = L.y[r] - sy; }
    draw();
  }

  const view = () => {
    const ratio = pixelRatio();
    const w = canvas.width / ratio, h = canvas.height / ratio;
    return { w, h, left: camera.x, top: camera.y, right: camera.x + w / camera.zoom, bottom: camera.y + h / camera.zoom };
  };

  function roundRect(path, x, y, w, h, r) { path.roundRect(x, y, w, h, r); }

  const clip = (text, px, size) => {
    const max = Math.floor(px / (size * 0.58));
    return text.length <= max ? text : max < 2 ? "" : text.slice(0, max - 1) + "…";
  };

  // ends returns where an edge leaves a and enters b: below each other where both are wide.
  function ends(a, b, slot) {
    const ax = L.x[a], bx = L.x[b], aw = L.width[a], bw = L.width[b];
    const inside = (v, at, w) => Math.min(at + w - 10, Math.max(at + 10, v));
    let from = ax + aw / 2, to = bx + bw / 2;
    if (aw > 240) from = inside(to, ax, aw);
    if (bw > 240) to = inside(from, bx, bw);
    else if (slot >= 0) to += Math.min(12, bw / 6) * Math.max(-2, Math.min(2, slot * 1 - 0.5));
    return [from, L.y[a] + L.height[a], to, L.y[b]];
  }

  function curve(path, p) {
    const [x1, y1, x2, y2] = p;
    const dy = y2 - y1;
    if (dy > 0) {
      const bend = Math.min(dy * 0.5, 80);
      path.moveTo(x1, y1);
      path.bezierCurveTo(x1, y1 + bend, x2, y2 - bend, x2, y2);
    } else { // back to an earlier layer, or into a box that contains the definition
      path.moveTo(x1, y1);
      path.bezierCurveTo(x1, y1 + 40, x2, y2 - 40, x2, y2);
    }
  }

  const heat = (t) => { // from pale to strong, for numbers
    const dark = hlocb.dark();
    return `hsl(${Math.round(48 - 48 * t)} 90% ${dark ? Math.round(24 + 22 * t) : Math.round(92 - 34 * t)}%)`;
  };

  function paint() {
    if (!hlocb.state || !hlocb.state.step || canvas.width < 2) return;
    for (const x of graphs) if (x.step()) paintGraph(x);
    hlocb.painted = performance.now();
    if (!hlocb.firstPicture) hlocb.firstPicture = hlocb.painted;
  }

  function paintGraph(graph) {
    const s = hlocb.state, step = graph.step(), marks = graph.marks(), canvas = graph.canvas;
    if (!graph.edges) graph.edges = L.edges(step);
    const edges = graph.edges;
    const ratio = pixelRatio();
    const v = view(), z = camera.zoom;
    const g = graph.context;
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.fillStyle = colors.canvas;
    g.fillRect(0, 0, canvas.width, canvas.height);
    g.setTransform(ratio * z, 0, 0, ratio * z, -camera.x * ratio * z, -camera.y * ratio * z);
    const inView = (i) => L.x[i] < v.right && L.x[i] + L.width[i] > v.left && L.y[i] < v.bottom && L.y[i] + L.height[i] > v.top;
    const shown = [], boxes = [];
    for (const i of L.visible) {
      if (!inView(i) || marks.present[i] === 0) continue;
      (L.isBox(i) && L.open[i] ? boxes : shown).push(i);
    }
    const font = (size, weight) => { g.font = `${weight || ""} ${size}px ui-sans-serif, system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif`; };
    const mono = (size) => { g.font = `${size}px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace`; };

    // Boxes, from the outside in.
    for (const i of boxes) {
      const p = new Path2D();
      roundRect(p, L.x[i], L.y[i], L.width[i], L.height[i], 8);
      g.fillStyle = colors.box;
      g.fill(p);
      g.lineWidth = (i === s.item ? 2.5 : 1) / Math.min(1, Math.max(z, 0.4));
      g.strokeStyle = i === s.item ? colors.select : step.hookOf(i) ? colors.hook : colors["box-line"];
      g.stroke(p);
    }

    // Edges.
    const plain = new Path2D(), faint = new Path2D(), strong = new Path2D(), chain = new Path2D(), path = new Path2D(), calls = new Path2D();
    const alias = { kept: new Path2D(), copy: new Path2D(), refused: new Path2D() };
    const labels = [];
    let drawn = 0;
    const limit = z < 0.15 ? 6000 : 30000;
    const selected = s.values;
    for (let k = 0; k < edges.from.length; k++) {
      const a = edges.from[k], b = edges.to[k], value = edges.value[k];
      const p = ends(a, b, edges.slot[k]);
      const lit = value >= 0 && (selected.has(value) || s.item >= 0 && (a === s.item || b === s.item) && edges.count[k] > 0);
      const ordered = value >= 0 && step.chain.has(value);
      const onPath = s.pathEdges && s.pathEdges.has(a * hlocb.model.n + b);
      if (Math.max(p[0], p[2]) < v.left || Math.min(p[0], p[2]) > v.right || Math.max(p[1], p[3]) < v.top || Math.min(p[1], p[3]) > v.bottom) continue;
      if (onPath) curve(path, p);
      else if (value < 0) curve(calls, p);
      else if (ordered) curve(chain, p);
      else {
        const verdict = s.aliasEdges.get(b * 64 + edges.slot[k]);
        if (verdict && alias[verdict]) curve(alias[verdict], p);
        else if (lit) curve(strong, p);
        else if (drawn++ < limit) curve(p[3] - p[1] > FAR || p[3] < p[1] || strings[items.label[a]] === "arguments" ? faint : plain, p);
      }
      if (value >= 0 && z > 0.75 && (lit || edges.from.length < 400 && p[3] - p[1] < FAR && definer[value] === a) && labels.length < 200 && p[3] > p[1]) labels.push([p, value, edges.count[k], lit]);
    }
    const stroke = (path, color, w, dash) => {
      g.strokeStyle = color; g.lineWidth = w / Math.max(z, 0.35) * Math.min(z, 1) + 0.4; g.setLineDash(dash || []); g.stroke(path); g.setLineDash([]);
    };
    g.globalAlpha = z < 0.3 ? 0.2 : 0.38;
    stroke(faint, colors.edge, 1);
    g.globalAlpha = edges.from.length > 4000 && z < 0.3 ? 0.35 : 1;
    stroke(plain, colors.edge, 1.2);
    g.globalAlpha = 1;
    stroke(calls, colors.muted, 1.2, [2, 4]);
    for (const [verdict, color] of [["kept", colors.free], ["copy", colors.copied], ["refused", colors.refused]]) stroke(alias[verdict], color, 2.2, [2, 3]);
    stroke(chain, colors.chain, 2);
    stroke(strong, colors.accent, 2);
    stroke(path, colors.path, 3.5);

    // Items.
    const overlay = s.overlay;
    const tiny = z < 0.22;
    if (tiny) { // blocks of colour
      const byColor = new Map();
      for (const i of shown) {
        const c = fillOf(i, marks, overlay) || colors[hlocb.classOfItem(i, step)] || colors.element;
        if (!byColor.has(c)) byColor.set(c, new Path2D());
        byColor.get(c).rect(L.x[i], L.y[i], L.width[i], L.height[i]);
      }
      for (const [c, p] of byColor) { g.fillStyle = c; g.fill(p); }
    } else {
      for (const i of shown) drawItem(g, i, step, marks, overlay);
    }
    for (const i of shown) {
      const mark = s.matches && s.matches[i] ? colors.match : s.pathItems && s.pathItems.has(i) ? colors.path : null;
      if (i === s.item || mark || s.nan.has(i)) {
        g.lineWidth = (tiny ? 3 : 2.5) / Math.max(0.4, Math.min(1, z));
        g.strokeStyle = i === s.item ? colors.select : s.nan.has(i) ? colors.nan : mark;
        const p = new Path2D();
        roundRect(p, L.x[i] - 2, L.y[i] - 2, L.width[i] + 4, L.height[i] + 4, 8);
        g.stroke(p);
      }
    }

    // Shapes on edges.
    mono(10);
    g.textAlign = "center";
    g.textBaseline = "middle";
    for (const [p, value, count, lit] of labels) {
      const text = shape(step.typeOf(value)) + (count > 1 ? " +" + (count - 1) : "");
      if (!text) continue;
      const dy = p[3] - p[1], t = dy > 120 ? 1 - 26 / dy : 0.5;
      const ex = dy > 120 ? p[2] : (p[0] + p[2]) / 2, ey = p[1] + dy * t;
      const w = text.length * 6 + 6;
      g.fillStyle = colors.canvas; g.globalAlpha = 0.85; g.fillRect(ex - w / 2, ey - 7, w, 14); g.globalAlpha = 1;
      g.fillStyle = lit ? colors.accent : colors.muted;
      g.fillText(text, ex, ey);
    }
    g.textAlign = "left";

    // Heads of boxes, at the edge of the window while the box is in it.
    if (z > 0.12) {
      for (const i of boxes) {
        const size = Math.max(13, Math.min(26, 13 / z));
        if (L.width[i] * z < 40) continue;
        font(size, "600");
        const left = Math.max(L.x[i], Math.min(v.left, L.x[i] + L.width[i] - 200 / z));
        const base = L.y[i] + Math.max(L.HEAD, size + 10) / 2 + 2;
        g.fillStyle = colors.muted;
        g.textBaseline = "middle";
        const head = "▾ " + boxTitle(i, step, marks);
        g.fillStyle = marks.changes[i] > 0 && changesCount(step) ? colors.changed : colors.ink;
        g.fillText(clip(head, L.x[i] + L.width[i] - left - 8, size), left + 10, base);
      }
    }
  }

  // changesCount says whether changes are shown: not in the first step, unless another one is beside it.
  const changesCount = (step) => step.index > 0 || hlocb.state.before !== null;

  // inside says how much a folded box contains.
  const inside = (i) => {
    const c = items.count[i] - (items.kind[i] === hlocb.OP ? 1 : 0);
    return c === 0 ? children[i].length.toLocaleString("en") + " values" : c.toLocaleString("en") + (c === 1 ? " op" : " ops");
  };

  const boxTitle = (i, step, marks) => {
    const label = hlocb.labelIn(i, step);
    const count = items.count[i] - (items.kind[i] === hlocb.OP ? 1 : 0);
    const changed = marks.changes[i];
    return label + " · " + count.toLocaleString("en") + (changed > 0 && changesCount(step) ? ` · ${changed.toLocaleString("en")} changed` : "");
  };

  function fillOf(i, marks, overlay) {
    if (hlocb.state.nan.has(i)) return colors.nan;
    if (overlay) {
      const t = overlay.scale.get(i);
      if (t !== undefined) return heat(t);
    }
    const state = marks.stateOf(i);
    if (state > 0) return [null, colors.added, colors.changed, colors.moved, colors.removed][state];
    return L.isBox(i) && marks.changes[i] > 0 ? colors.changed : null;
  }

  function drawItem(g, i, step, marks, overlay) {
    const z = camera.zoom;
    const x = L.x[i], y = L.y[i], w = L.width[i], h = L.height[i];
    const arg = items.kind[i] === hlocb.ARG, box = L.isBox(i);
    const removed = marks.stateOf(i) === hlocb.REMOVED || !step.exists(i) && (items.kind[i] === hlocb.OP || arg);
    const hook = step.hookOf(i);
    if (box && z > 0.3) { // a pile of cards
      g.fillStyle = colors.card; g.strokeStyle = colors["card-line"]; g.lineWidth = 1;
      for (const d of [6, 3]) {
        const p = new Path2D();
        roundRect(p, x + d, y + d, w, h, 6);
        g.fill(p); g.stroke(p);
      }
    }
    const p = new Path2D();
    roundRect(p, x, y, w, h, arg ? h / 2 : 6);
    const fill = fillOf(i, marks, overlay);
    g.fillStyle = colors.card;
    g.fill(p);
    if (fill) { g.globalAlpha = overlay && overlay.scale.has(i) ? 1 : 0.28; g.fillStyle = fill; g.fill(p); g.globalAlpha = 1; }
    g.lineWidth = hook ? 2.2 : fill ? 1.8 : 1;
    g.strokeStyle = hook ? colors.hook : fill && !(overlay && overlay.scale.has(i)) ? fill : colors["card-line"];
    if (removed) g.setLineDash([4, 3]);
    g.stroke(p);
    g.setLineDash([]);
    const stripe = colors[hlocb.classOfItem(i, step)] || colors.element;
    if (!arg) {
      const q = new Path2D();
      q.roundRect(x, y, 5, h, [6, 0, 0, 6]);
      g.fillStyle = hook ? colors.hook : stripe;
      g.fill(q);
    }
    if (z < 0.34) return;
    g.textBaseline = "middle";
    g.fillStyle = removed ? colors.removed : colors.ink;
    g.font = `${box || hook ? 600 : 500} 12.5px ui-sans-serif, system-ui, "Segoe UI", Roboto, sans-serif`;
    const label = hlocb.labelIn(i, step);
    if (arg) {
      g.fillText(clip(label, w - 18, 12), x + 12, y + h / 2 + 0.5);
      return;
    }
    g.fillText(clip((box ? "▸ " : "") + label, w - 18, 12), x + 13, y + 14);
    if (z < 0.5) return;
    g.font = `10.5px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace`;
    g.fillStyle = colors.muted;
    let second = "";
    if (overlay && overlay.number.has(i)) second = hlocb.formatNumber(overlay.number.get(i)) + (overlay.unit ? " " + overlay.unit : "");
    else if (box) second = inside(i);
    else { const types = step.typesOf(i); second = types.length ? shape(types[0]) + (types.length > 1 ? " +" + (types.length - 1) : "") : ""; }
    if (hook) second = "hook · " + hook.kind + (hook.types.length ? " · " + shape(hook.types[0]) : "");
    g.fillText(clip(second, w - 18, 11), x + 13, y + 30);
    if (step.made.has(i)) { // a rule made it
      g.fillStyle = colors.accent;
      g.beginPath();
      g.moveTo(x + w - 9, y + 3); g.lineTo(x + w - 4, y + 8); g.lineTo(x + w - 9, y + 13); g.lineTo(x + w - 14, y + 8);
      g.fill();
    }
    const verdicts = hook ? hlocb.aliasesOf(step.hook[step.rows[i]]) : [];
    verdicts.forEach((a, k) => {
      g.fillStyle = colors[{ kept: "free", copy: "copied", refused: "refused" }[a.verdict] || "refused"];
      g.beginPath();
      g.arc(x + w - 10 - 12 * k, y + h - 11, 4, 0, 2 * Math.PI);
      g.fill();
    });
  }

  // itemAt returns the innermost drawn item at a point of the page, or -1.
  function itemAt(graph, clientX, clientY) {
    const box = graph.canvas.getBoundingClientRect(), { present } = graph.marks();
    const px = camera.x + (clientX - box.left) / camera.zoom, py = camera.y + (clientY - box.top) / camera.zoom;
    let found = -1;
    for (const i of L.visible) {
      if (present[i] > 0 && px >= L.x[i] && px <= L.x[i] + L.width[i] && py >= L.y[i] && py <= L.y[i] + L.height[i]) found = i;
    }
    return found;
  }

  function bounds(list) {
    const b = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
    for (const i of list) {
      b.left = Math.min(b.left, L.x[i]); b.top = Math.min(b.top, L.y[i]);
      b.right = Math.max(b.right, L.x[i] + L.width[i]); b.bottom = Math.max(b.bottom, L.y[i] + L.height[i]);
    }
    return b;
  }

  // fit shows everything if it can be read, otherwise the start at a readable size.
  function fit(all) {
    const s = hlocb.state;
    const list = L.visible.filter((i) => s.marks.present[i] > 0 || s.before && s.beforeMarks.present[i] > 0);
    if (list.length === 0) return;
    const b = bounds(list), v = view();
    const z = Math.min(1.25, v.w / (b.right - b.left + 60), v.h / (b.bottom - b.top + 60));
    camera.zoom = all ? z : Math.max(z, 0.62);
    camera.x = (b.left + b.right) / 2 - v.w / 2 / camera.zoom;
    camera.y = z >= camera.zoom ? (b.top + b.bottom) / 2 - v.h / 2 / camera.zoom : b.top - 24 / camera.zoom;
    draw();
  }

  // centre moves the window to an item, and zooms in if the item is too small to read.
  function centre(i) {
    const r = L.representative[i];
    const v = view();
    if (camera.zoom < 0.55) camera.zoom = 0.9;
    const w = v.w / camera.zoom, h = v.h / camera.zoom;
    camera.x = L.x[r] + Math.min(L.width[r], w - 40) / 2 - w / 2;
    camera.y = L.y[r] + Math.min(L.height[r], h - 40) / 2 - h / 2;
    draw();
  }

  // show moves the window only if the item is outside of it.
  function show(i) {
    const r = L.representative[i], v = view();
    if (L.x[r] < v.left || L.y[r] < v.top || L.x[r] + Math.min(L.width[r], 200) > v.right || L.y[r] + Math.min(L.height[r], 60) > v.bottom || camera.zoom < 0.34) centre(i);
    else draw();
  }

  function zoomAt(factor, clientX, clientY, on) {
    const box = (on || canvas).getBoundingClientRect();
    const px = clientX - box.left, py = clientY - box.top;
    const z = Math.min(3, Math.max(0.004, camera.zoom * factor));
    camera.x += px / camera.zoom - px / z;
    camera.y += py / camera.zoom - py / z;
    camera.zoom = z;
    draw();
  }

  // listen moves, zooms and selects by the pointer over a graph.
  function listen(graph) {
    const { canvas } = graph;
    let drag = null;
    canvas.addEventListener("pointerdown", (e) => {
      drag = { x: e.clientX, y: e.clientY, cx: camera.x, cy: camera.y, moved: false };
      canvas.setPointerCapture(e.pointerId);
    });
    canvas.addEventListener("pointermove", (e) => {
      if (!drag) {
        const i = itemAt(graph, e.clientX, e.clientY);
        canvas.style.cursor = i >= 0 && !(L.isBox(i) && L.open[i]) ? "pointer" : "grab";
        canvas.title = i >= 0 && camera.zoom < 0.5 ? hlocb.labelIn(i, graph.step()) : "";
        return;
      }
      if (Math.abs(e.clientX - drag.x) + Math.abs(e.clientY - drag.y) > 4) drag.moved = true;
      if (!drag.moved) return;
      camera.x = drag.cx - (e.clientX - drag.x) / camera.zoom;
      camera.y = drag.cy - (e.clientY - drag.y) / camera.zoom;
      draw();
    });
    canvas.addEventListener("pointerup", (e) => {
      const d = drag;
      drag = null;
      if (!d || d.moved) { hlocb.remember(); return; }
      const i = itemAt(graph, e.clientX, e.clientY);
      const box = canvas.getBoundingClientRect();
      const py = camera.y + (e.clientY - box.top) / camera.zoom;
      if (i >= 0 && L.isBox(i) && L.open[i] && py < L.y[i] + L.HEAD + 4) { hlocb.select(i); hlocb.toggle(i); return; }
      if (i >= 0 && L.isBox(i) && !L.open[i] && hlocb.state.item === i) { hlocb.toggle(i); return; }
      hlocb.select(i);
    });
    canvas.addEventListener("dblclick", (e) => {
      const i = itemAt(graph, e.clientX, e.clientY);
      if (i < 0) return;
      const f = graph.step().callee.get(i);
      if (f !== undefined) hlocb.goto(f);
    });
    canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      if (e.ctrlKey || e.metaKey || !e.shiftKey && Math.abs(e.deltaX) < 1 && e.deltaMode === 0 && Math.abs(e.deltaY) >= 50) zoomAt(Math.exp(-e.deltaY * 0.0016), e.clientX, e.clientY, canvas);
      else { camera.x += e.deltaX / camera.zoom; camera.y += e.deltaY / camera.zoom; draw(); }
    }, { passive: false });
  }
  graphs.forEach(listen);
  new ResizeObserver(resize).observe(canvas.parentElement);

  hlocb.classOfItem = (i, step) => {
    if (items.kind[i] !== hlocb.OP) return "frame";
    const name = (step || hlocb.state.step).opName(i);
    return name ? classOf(name) : "element";
  };
  hlocb.aliasesOf = (site) => (data.hooks ? data.hooks.aliases : []).filter((a) => a.hook === site);
  hlocb.formatNumber = (v) => {
    const a = Math.abs(v);
    if (v === 0) return "0";
    if (!Number.isFinite(v)) return String(v);
    if (a >= 1e6 || a < 1e-3) return v.toExponential(3);
    return Number.isInteger(v) ? v.toLocaleString("en") : String(Number(v.toPrecision(5)));
  };
  // paintNow draws at once, for tests that measure.
  const paintNow = () => { wanted = false; paint(); };
  hlocb.graph = { draw, paintNow, beforePrint, afterPrint, relayout, fit, centre, show, zoomAt, resize, readColors, camera, canvas, inside, stepChanged() { for (const x of graphs) x.edges = null; draw(); } };
})(window.hlocb);

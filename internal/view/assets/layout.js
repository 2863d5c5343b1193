// Positions of the boxes that are open. Go chose the layer of each item and its place in the layer; here every row of a
// layer gets coordinates, by moving items towards the items that they are connected with. A box is laid out again only
// if something inside it was opened or folded.
"use strict";
(function (hlocb) {
  const { items, n, children, strings, definer, topDown } = hlocb.model;
  const GAP = 18, ROW = 14, LAYER = 38, PAD = 16, HEAD = 30, LEAF = 42, SMALL = 26;
  const MAX_ROW = 18; // a wider layer takes several rows
  const width = new Float32Array(n), height = new Float32Array(n);
  const localX = new Float32Array(n), localY = new Float32Array(n); // in the parent
  const x = new Float32Array(n), y = new Float32Array(n);
  const open = new Uint8Array(n); // opened boxes
  const stale = new Uint8Array(n).fill(1);

  // Edges between the children of each box, of all steps, so that positions do not depend on the step.
  const before = new Array(n), after = new Array(n);
  const near = items.edges || [];
  for (let k = 0; k < near.length; k += 2) {
    const a = near[k], b = near[k + 1];
    (after[a] || (after[a] = [])).push(b);
    (before[b] || (before[b] = [])).push(a);
  }

  const isBox = (i) => children[i] !== null && children[i].length > 0;

  function leafSize(i) {
    const text = strings[items.label[i]]; // the same in all steps
    const small = items.kind[i] === hlocb.ARG;
    width[i] = Math.min(230, Math.max(72, 26 + 6.9 * text.length, small ? 0 : 24 + 6.6 * items.wide[i]));
    height[i] = small ? SMALL : LEAF;
    if (isBox(i)) { width[i] = Math.min(280, Math.max(120, 60 + 7.2 * text.length)); height[i] = LEAF; }
  }

  // measure computes the size of an item from the sizes of the items inside, which are known.
  function measure(i) {
    stale[i] = 0;
    if (!isBox(i) || !open[i]) { leafSize(i); return; }
    const list = children[i];
    const rows = []; // {list, y}
    let at = i === 0 ? 0 : HEAD + 8;
    for (let k = 0; k < list.length;) {
      let end = k;
      while (end < list.length && items.layer[list[end]] === items.layer[list[k]]) end++;
      const pieces = Math.ceil((end - k) / MAX_ROW);
      const size = Math.ceil((end - k) / pieces);
      for (let p = k; p < end; p += size) {
        const row = list.slice(p, Math.min(end, p + size));
        let h = 0;
        for (const c of row) h = Math.max(h, height[c]);
        for (const c of row) localY[c] = at + (before[c] || isBox(c) || items.kind[c] === hlocb.ARG ? 0 : h - height[c]); // a constant stands close to its user
        rows.push(row);
        at += h + (p + size < end ? ROW : LAYER);
      }
      k = end;
    }
    place(rows);
    let left = Infinity, right = -Infinity;
    for (const c of list) { left = Math.min(left, localX[c]); right = Math.max(right, localX[c] + width[c]); }
    const label = i === 0 ? 0 : Math.min(640, 130 + 8 * strings[items.label[i]].length);
    width[i] = Math.max(right - left + 2 * PAD, label);
    const shift = (width[i] - (right - left)) / 2 - left;
    for (const c of list) localX[c] += shift;
    height[i] = at - LAYER + PAD;
  }

  // place sets localX of the items of rows. Each item wants to be below or above the items that it is connected with;
  // the items of a row keep their order and their distance. That is a regression with an order, which the pool of
  // adjacent violators solves in linear time.
  function place(rows) {
    for (const row of rows) {
      let w = 0;
      for (const c of row) w += width[c] + GAP;
      let at = -(w - GAP) / 2;
      for (const c of row) { localX[c] = at; at += width[c] + GAP; }
    }
    const centre = (c) => localX[c] + width[c] / 2;
    const settle = (row, neighbours) => {
      const offset = new Float64Array(row.length);
      const sum = [], weight = [], count = [];
      let s = 0;
      for (let k = 0; k < row.length; k++) {
        const c = row[k];
        if (k > 0) s += width[row[k - 1]] + GAP;
        offset[k] = s;
        const list = neighbours[c];
        let want = localX[c], w = 0.2;
        if (list) {
          let total = 0;
          for (const m of list) total += centre(m);
          want = total / list.length - width[c] / 2;
          w = 1;
        }
        sum.push((want - s) * w); weight.push(w); count.push(1);
        while (sum.length > 1) {
          const e = sum.length - 1;
          if (sum[e - 1] / weight[e - 1] <= sum[e] / weight[e]) break;
          sum[e - 1] += sum[e]; weight[e - 1] += weight[e]; count[e - 1] += count[e];
          sum.pop(); weight.pop(); count.pop();
        }
      }
      let k = 0;
      for (let b = 0; b < sum.length; b++) {
        const m = sum[b] / weight[b];
        for (let c = 0; c < count[b]; c++, k++) localX[row[k]] = m + offset[k];
      }
    };
    for (let sweep = 0; sweep < 3; sweep++) {
      for (const row of rows) settle(row, before);
      for (let k = rows.length - 1; k >= 0; k--) settle(rows[k], after);
    }
  }

  // visible lists the items that are drawn, each after its box; representative is the drawn item that stands for an
  // item in a folded box.
  let visible = [];
  const representative = new Int32Array(n);
  function layout() {
    for (let k = n - 1; k >= 0; k--) if (stale[topDown[k]]) measure(topDown[k]); // from the inside out
    visible = [];
    for (let k = 0; k < n; k++) {
      const i = topDown[k], p = items.parent[i];
      if (p < 0) { x[i] = 0; y[i] = 0; representative[i] = i; continue; }
      if (!open[p] || representative[p] !== p) { representative[i] = representative[p]; continue; }
      representative[i] = i;
      x[i] = x[p] + localX[i];
      y[i] = y[p] + localY[i];
      visible.push(i);
    }
  }

  // edges returns the drawn edges of a step: pairs of drawn items, with the value of the first and how many values the
  // edge stands for.
  function edges(step) {
    const seen = new Map();
    const out = { from: [], to: [], value: [], count: [], slot: [] };
    for (let r = 0; r < step.items.length; r++) {
      const b = representative[step.items[r]];
      for (let k = step.operandStart[r], slot = 0; k < step.operandStart[r + 1]; k++, slot++) {
        const v = step.operands[k];
        if (v < 0) continue;
        const a = representative[definer[v]];
        if (a === b) continue;
        const key = a * n + b;
        const old = seen.get(key);
        if (old !== undefined) { out.count[old]++; continue; }
        seen.set(key, out.from.length);
        out.from.push(a); out.to.push(b); out.value.push(v); out.count.push(1); out.slot.push(slot);
      }
    }
    for (const [call, f] of step.callee) {
      const a = representative[call], b = representative[f];
      if (a !== b && items.parent[f] !== call && !seen.has(a * n + b)) {
        seen.set(a * n + b, -1);
        out.from.push(a); out.to.push(b); out.value.push(-1); out.count.push(1); out.slot.push(-1);
      }
    }
    return out;
  }

  function invalidate(i) {
    for (; i >= 0; i = items.parent[i]) stale[i] = 1;
  }
  function setOpen(i, value) {
    if (!isBox(i) || open[i] === (value ? 1 : 0)) return false;
    open[i] = value ? 1 : 0;
    invalidate(i);
    const list = children[i];
    if (value && i > 0 && items.kind[i] === hlocb.OP && list.length === 1 && isBox(list[0])) setOpen(list[0], true); // the function of a call
    return true;
  }
  // reveal opens the boxes around an item.
  function reveal(i) {
    let changed = false;
    for (const p of hlocb.model.ancestors(i)) changed = setOpen(p, true) || changed;
    return changed;
  }
  function setAll(value) {
    for (let i = 0; i < n; i++) setOpen(i, value || i === 0);
  }

  // openSome opens boxes from the outside in while fewer than limit items are visible.
  function openSome(limit) {
    setAll(false);
    open[0] = 1;
    let shown = children[0] ? children[0].length : 0;
    for (let k = 1; k < n; k++) {
      const i = topDown[k];
      const p = items.parent[i];
      if (!isBox(i) || !open[p]) continue;
      const f = items.kind[i] === hlocb.OP && p === 0;
      if (shown + children[i].length > limit && !(f && shown < limit)) continue;
      if (items.kind[i] === hlocb.OP && !f && !/^(while|if|case|call|composite|fusion|module|async)/.test(strings[items.label[i]])) continue;
      if (items.kind[i] === hlocb.PART && strings[items.label[i]] === "arguments") continue;
      setOpen(i, true);
      shown += children[i].length;
    }
  }

  hlocb.layout = { x, y, width, height, open, isBox, layout, edges, setOpen, setAll, openSome, reveal, representative, HEAD, get visible() { return visible; } };
})(window.hlocb);

// Search by a regular expression over names, ops, locations and shapes; and paths from one op to another.
"use strict";
(function (hlocb) {
  const { items, n, strings, data, definer, topDown, shape } = hlocb.model;
  const { $ } = hlocb;
  let found = [], at = -1;

  // find marks the items that match. Each distinct string is tested once.
  function find(text) {
    const s = hlocb.state;
    found = []; at = -1;
    s.matches = null;
    if (text === "") { $("matches").textContent = ""; return; }
    let test;
    try { test = new RegExp(text, /[A-Z]/.test(text) ? "" : "i"); }
    catch (e) { $("matches").textContent = "not a regular expression"; return; }
    const memo = new Uint8Array(strings.length); // 1: no, 2: yes
    const hit = (k) => {
      if (memo[k] === 0) memo[k] = strings[k] !== "" && (test.test(strings[k]) || strings[k].startsWith("tensor<") && test.test(shape(strings[k]))) ? 2 : 1;
      return memo[k] === 2;
    };
    const marks = new Uint8Array(n);
    for (const step of s.before ? [s.step, s.before] : [s.step]) for (let r = 0; r < step.items.length; r++) {
      const i = step.items[r], l = step.loc[r];
      if (marks[i]) continue;
      let yes = hit(step.name[r]) || hit(items.label[i]) || l > 0 && (hit(data.locs.text[l]) || hit(data.locs.place[l]) || hit(data.locs.line[l]));
      for (let k = step.typeStart[r]; !yes && k < step.typeStart[r + 1]; k++) yes = hit(step.types[k]);
      for (let k = 0; !yes && k < step.typeStart[r + 1] - step.typeStart[r]; k++) {
        const name = step.names.get(items.value[i] + k);
        const other = step.written.get(items.value[i] + k);
        yes = name !== undefined && hit(name) || other !== undefined && hit(other);
      }
      if (yes && items.parent[i] >= 0) { marks[i] = 1; found.push(i); }
    }
    for (const i of topDown) {
      if (items.kind[i] >= hlocb.REGION && hit(items.label[i])) { marks[i] = 1; found.push(i); }
    }
    // A folded box is marked if it contains a match.
    for (let k = n - 1; k > 0; k--) {
      const i = topDown[k];
      if (marks[i]) { const p = hlocb.layout.representative[i]; if (p !== i) marks[p] = 1; }
    }
    s.matches = marks;
    $("matches").textContent = found.length === 0 ? "no match" : found.length.toLocaleString("en") + (found.length === 1 ? " match" : " matches");
  }

  function go(by) {
    if (found.length === 0) return;
    at = (at + by + found.length) % found.length;
    hlocb.goto(found[at]);
    $("matches").textContent = `${at + 1} of ${found.length.toLocaleString("en")}`;
  }

  // path finds a shortest way of values from op a to op b: from an op to the users of its results, along values that
  // loops, branches and calls forward, and into the regions of a user. With chain, only values that order hooks count.
  function path(a, b, chain) {
    const s = hlocb.state, step = s.step;
    if (a === undefined || b === undefined || a < 0 || b < 0) return;
    step.usersOf(0);
    const from = new Int32Array(n).fill(-1);
    const queue = [a];
    from[a] = a;
    const push = (i, by) => { if (from[i] < 0) { from[i] = by; queue.push(i); } };
    for (let k = 0; k < queue.length && from[b] < 0; k++) {
      const i = queue[k];
      for (const v of step.valuesOf(i)) {
        if (chain && !step.chain.has(v)) continue;
        for (const u of step.usersOf(v)) push(u, i);
        for (const w of step.flowOf.get(v) || []) push(definer[w], i);
      }
    }
    // a loop's body is inside of the loop, which the search does not pass through unless a value enters it
    if (from[b] < 0) {
      $("announce").textContent = "no path";
      hlocb.outline.path([], `No path from ${hlocb.labelOf(a)} to ${hlocb.labelOf(b)}`);
      s.pathItems = null; s.pathEdges = null;
      hlocb.graph.draw();
      return;
    }
    const list = [];
    for (let i = b; ; i = from[i]) { list.push(i); if (i === a) break; }
    list.reverse();
    s.path = list;
    for (const i of list) hlocb.layout.reveal(i);
    hlocb.graph.relayout(a);
    mark();
    hlocb.outline.update();
    hlocb.outline.path(list, `Path from ${hlocb.labelOf(a)} to ${hlocb.labelOf(b)}: ${list.length - 1} ` + (list.length === 2 ? "edge" : "edges"));
    hlocb.graph.centre(a);
    hlocb.text.render(true);
  }

  // mark finds the drawn items and edges of the path.
  function mark() {
    const s = hlocb.state, r = hlocb.layout.representative;
    if (!s.path) return;
    s.pathItems = new Set(s.path.map((i) => r[i]));
    s.pathEdges = new Set();
    for (let k = 1; k < s.path.length; k++) s.pathEdges.add(r[s.path[k - 1]] * n + r[s.path[k]]);
  }

  function clearPath() {
    const s = hlocb.state;
    s.path = s.pathItems = s.pathEdges = null;
    hlocb.outline.path(null);
    hlocb.graph.draw();
    hlocb.text.render(true);
  }

  // show marks items as matches, such as the ops that a rule made.
  function show(list, what) {
    const s = hlocb.state;
    found = list; at = -1;
    s.matches = new Uint8Array(n);
    for (const i of list) s.matches[i] = s.matches[hlocb.layout.representative[i]] = 1;
    $("matches").textContent = `${what}: ${list.length.toLocaleString("en")}` + (list.length === 1 ? " op" : " ops");
    if (list.length > 0) go(1); else hlocb.graph.draw();
  }

  hlocb.search = { find, show, go, path, mark, clearPath, get found() { return found; } };
})(window.hlocb);

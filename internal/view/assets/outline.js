// The outline: a tree of boxes and ops; under it the hooks with the proof of their order, and a found path.
"use strict";
(function (hlocb) {
  const { items, data } = hlocb.model;
  const { el, $ } = hlocb;
  const L = hlocb.layout;
  const ROW = 24;
  const tree = $("outline");
  let rows = [];

  // list fills rows with the items that the tree shows: those in open boxes, in program order.
  function list() {
    rows = [];
    const { step, marks } = hlocb.state;
    const add = (i, depth) => {
      if (marks.present[i] === 0) return;
      rows.push([i, depth]);
      if (L.isBox(i) && L.open[i] && depth < 200) for (const c of step.inOrder(i)) add(c, depth + 1);
    };
    for (const c of step.inOrder(0)) add(c, 0);
  }

  function render() {
    const { step, marks } = hlocb.state;
    const from = Math.max(0, Math.floor(tree.scrollTop / ROW) - 10);
    const to = Math.min(rows.length, Math.ceil((tree.scrollTop + tree.clientHeight) / ROW) + 10);
    const space = el("div", { class: "space", role: "presentation" });
    space.style.height = rows.length * ROW + "px";
    for (let k = from; k < to; k++) {
      const [i, depth] = rows[k];
      const box = L.isBox(i), r = step.rows[i];
      const hook = step.hookOf(i);
      let classes = "row";
      if (i === hlocb.state.item) classes += " selected";
      if (hook) classes += " hook";
      const state = marks.stateOf(i);
      if (state > 0) classes += " " + ["", "added", "changed", "moved", "removed"][state];
      else if (box && marks.changes[i] > 0) classes += " has-changes";
      if (hlocb.state.nan.has(i)) classes += " nan";
      const name = r >= 0 && step.valuesOf(i).length > 0 ? step.valueName(items.value[i]).replace(/#0$/, "") : "";
      const e = el("div", { class: classes, role: "treeitem", "aria-level": depth + 1, "aria-selected": i === hlocb.state.item ? "true" : "false", "data-item": i, id: "row-" + i },
        el("span", { class: "twist", "aria-hidden": "true" }, box ? (L.open[i] ? "▾" : "▸") : ""),
        el("span", { class: "swatch c-" + hlocb.classOfItem(i), "aria-hidden": "true" }),
        el("span", { class: "label" }, hlocb.labelOf(i)),
        name && items.kind[i] !== hlocb.ARG ? el("span", { class: "value-name" }, name) : null,
        box ? el("span", { class: "count" }, (items.count[i] - (items.kind[i] === hlocb.OP ? 1 : 0) || step.inOrder(i).length).toLocaleString("en")) : null);
      if (box) e.setAttribute("aria-expanded", L.open[i] ? "true" : "false");
      e.style.top = k * ROW + "px";
      e.style.paddingLeft = 6 + 14 * Math.min(depth, 30) + "px";
      space.append(e);
    }
    const top = tree.scrollTop;
    tree.replaceChildren(space);
    tree.scrollTop = top;
    const selected = hlocb.state.item;
    if (selected >= 0 && document.getElementById("row-" + selected)) tree.setAttribute("aria-activedescendant", "row-" + selected);
    else tree.removeAttribute("aria-activedescendant");
  }

  function update() { list(); render(); }

  function scrollTo(i) {
    const k = rows.findIndex((r) => r[0] === i);
    if (k < 0) return;
    const at = k * ROW;
    if (at < tree.scrollTop || at > tree.scrollTop + tree.clientHeight - ROW) tree.scrollTop = at - tree.clientHeight / 2;
    render();
  }

  let pending = false;
  tree.addEventListener("scroll", () => {
    if (pending) return;
    pending = true;
    requestAnimationFrame(() => { pending = false; render(); });
  });
  tree.addEventListener("click", (e) => {
    const row = e.target.closest("[data-item]");
    if (!row) return;
    const i = Number(row.dataset.item);
    hlocb.goto(i, false);
    if (e.target.closest(".twist")) hlocb.toggle(i);
  });
  tree.addEventListener("dblclick", (e) => {
    const row = e.target.closest("[data-item]");
    if (row) hlocb.toggle(Number(row.dataset.item));
  });
  tree.addEventListener("keydown", (e) => {
    const k = rows.findIndex((r) => r[0] === hlocb.state.item);
    const move = (to) => { if (rows[to]) { hlocb.goto(rows[to][0], false); scrollTo(rows[to][0]); } };
    const i = hlocb.state.item;
    switch (e.key) {
      case "ArrowDown": move(k + 1); break;
      case "ArrowUp": move(Math.max(0, k - 1)); break;
      case "Home": move(0); break;
      case "End": move(rows.length - 1); break;
      case "ArrowRight": if (i >= 0 && L.isBox(i)) { if (!L.open[i]) hlocb.toggle(i); else move(k + 1); } break;
      case "ArrowLeft": if (i >= 0 && L.isBox(i) && L.open[i]) hlocb.toggle(i); else if (i >= 0 && items.parent[i] > 0) hlocb.goto(items.parent[i], false); break;
      case "Enter": case " ": if (i >= 0) hlocb.toggle(i); break;
      default: return;
    }
    e.preventDefault();
    e.stopPropagation();
  });
  new ResizeObserver(() => { if (hlocb.state && hlocb.state.step) render(); }).observe(tree);

  const verdictText = { kept: "free", copy: "copied", refused: "refused" };

  // hooks shows the hooks in the order of their chain, the edges of the order and the aliases.
  function hooks() {
    const h = data.hooks, box = $("hooks");
    if (!h) { box.hidden = true; return; }
    box.hidden = false;
    const step = hlocb.state.step;
    const proof = h.proof === ""
      ? el("p", { class: "proof good" }, "✓ order proved: every hook is after the hooks before it")
      : el("p", { class: "proof bad" }, "✗ order not proved: " + h.proof);
    const out = el("ol", {});
    h.sites.forEach((site, k) => {
      const item = step.hookItem.get(k);
      const li = el("li", { class: item !== undefined && item === hlocb.state.item ? "selected" : "" },
        el("button", { type: "button", class: "hook-name", disabled: item === undefined, onclick: () => hlocb.goto(item) }, site.name || "(no name)"),
        el("span", { class: "kind" }, site.kind),
        el("span", { class: "place" }, site.place));
      const after = h.order.filter((e) => e[1] === k), data = h.data.filter((e) => e[1] === k);
      for (const [list, label] of [[after, "after"], [data, "by data after"]]) {
        for (const [from] of list) {
          li.append(el("div", { class: "edge" }, label + " ",
            el("button", { type: "button", class: "link", title: "Show the path of the order", onclick: () => hlocb.search.path(step.hookItem.get(from), item, label === "after") }, h.sites[from].name || "(no name)")));
        }
      }
      for (const a of h.aliases.filter((a) => a.hook === k)) {
        li.append(el("div", { class: "alias" }, el("span", { class: "dot " + a.verdict, "aria-hidden": "true" }),
          `result ${a.result} ` + (a.operand >= 0 ? `is operand ${a.operand}: ` : ": ") + (verdictText[a.verdict] || a.verdict) + (a.reason ? " – " + a.reason : "")));
      }
      out.append(li);
    });
    box.replaceChildren(el("h2", {}, `Hooks (${h.sites.length})`), proof, out);
  }

  // path shows the items of a found path.
  function path(list, title) {
    const box = $("path");
    if (!list) { box.hidden = true; return; }
    box.hidden = false;
    const step = hlocb.state.step;
    const out = el("ol", {});
    for (const i of list.slice(0, 500)) {
      const v = step.valuesOf(i);
      out.append(el("li", {}, el("button", { type: "button", class: "link", onclick: () => hlocb.goto(i) }, (v.length ? step.valueName(v[0]) + " = " : "") + hlocb.labelOf(i))));
    }
    box.replaceChildren(el("h2", {}, title), el("button", { type: "button", class: "close", "aria-label": "Close the path", onclick: () => hlocb.search.clearPath() }, "×"), out);
  }

  hlocb.outline = { update, render, scrollTo, hooks, path };
})(window.hlocb);

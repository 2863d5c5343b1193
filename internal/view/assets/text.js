// The module's text. Only the lines in the window are elements; each mention of a value is one, too.
"use strict";
(function (hlocb) {
  const { strings, items } = hlocb.model;
  const { el, $ } = hlocb;
  const LINE = 19;

  // spans returns the elements of a line. Words of MLIR get a class.
  const word = /("(?:[^"\\]|\\.)*"?)|(@[\w$.-]+|@"[^"]*")|(![\w.]+|tensor|memref|vector|tuple|complex)|([a-z_][\w]*\.[\w.]+)|(-?\d[\w.+-]*)/g;
  function plain(text, out) {
    let at = 0;
    word.lastIndex = 0;
    for (let m; (m = word.exec(text));) {
      if (m.index > at) out.push(text.slice(at, m.index));
      out.push(el("span", { class: m[1] ? "t-string" : m[2] ? "t-symbol" : m[3] ? "t-type" : m[4] ? "t-op" : "t-number" }, m[0]));
      at = m.index + m[0].length;
    }
    if (at < text.length) out.push(text.slice(at));
  }

  function lineElement(step, marks, line) {
    const template = strings[step.lines[line]];
    const item = step.itemOfLine(line);
    const s = hlocb.state;
    const out = [el("span", { class: "number", "aria-hidden": "true" }, String(line + 1))];
    let v = step.startOfLine(line), at = 0;
    for (let k = 0; k < template.length; k++) {
      const c = template[k];
      if (c !== "\u0001" && c !== "\u0002") continue;
      plain(template.slice(at, k), out);
      const value = step.lineValues[v++];
      let name = step.valueName(value);
      if (c === "\u0002") name = name.replace(/#\d+$/, "");
      out.push(el("span", { class: "value" + (s.values.has(value) ? " lit" : "") + (step.chain.has(value) ? " chain" : ""), "data-value": value }, name));
      at = k + 1;
    }
    plain(template.slice(at), out);
    let classes = "line";
    if (item >= 0) {
      const r = step.rows[item];
      if (item === s.item) classes += " selected";
      if (s.matches && s.matches[item]) classes += " match";
      if (s.pathItems && s.pathItems.has(item)) classes += " on-path";
      const state = marks.stateOf(item);
      if (state > 0) classes += " " + ["", "added", "changed", "moved", "removed"][state];
      if (step.hook[r] >= 0) classes += " hook";
      if (s.nan.has(item)) classes += " nan";
    }
    const e = el("div", { class: classes, "data-line": line }, ...out);
    if (item >= 0 && s.overlay && s.overlay.number.has(item)) e.append(el("span", { class: "badge" }, hlocb.formatNumber(s.overlay.number.get(item)) + (s.overlay.unit ? " " + s.overlay.unit : "")));
    return e;
  }

  // Pane is the text of a step. Two of them scroll to the same op.
  class Pane {
    constructor(id, step, marks) {
      Object.assign(this, { step, marks, pane: $(id), first: -1, last: -1, shown: null });
      this.holder = el("div", { class: "text-lines" });
      this.space = el("div", { class: "text-space" }, this.holder);
      this.pane.append(this.space);
      this.pane.addEventListener("scroll", () => this.render(false));
      new ResizeObserver(() => this.render(true)).observe(this.pane);
      this.holder.addEventListener("click", (e) => {
        const value = e.target.closest("[data-value]"), line = e.target.closest("[data-line]");
        if (value) { hlocb.selectValue(Number(value.dataset.value)); return; }
        const item = line ? this.step().itemOfLine(Number(line.dataset.line)) : -1;
        if (item >= 0) hlocb.select(item);
      });
    }

    render(force) {
      const step = hlocb.state && this.step(), { pane } = this;
      if (!step || $("text-pane").hidden || pane.hidden) return;
      const from = Math.max(0, Math.floor(pane.scrollTop / LINE) - 20);
      const to = Math.min(step.lines.length, Math.ceil((pane.scrollTop + pane.clientHeight) / LINE) + 20);
      if (!force && from === this.first && to === this.last && this.shown === step) return;
      if (this.shown !== step) this.space.style.height = step.lines.length * LINE + "px";
      Object.assign(this, { first: from, last: to, shown: step });
      const list = document.createDocumentFragment();
      for (let k = from; k < to; k++) list.append(lineElement(step, this.marks(), k));
      this.holder.style.transform = `translateY(${from * LINE}px)`;
      this.holder.replaceChildren(list);
    }

    // scrollTo shows the line of an item if it is outside of the window.
    scrollTo(i) {
      const step = this.step(), { pane } = this, r = step ? step.rows[i] : -1;
      if (r < 0 || step.line[r] < 0) return;
      const at = step.line[r] * LINE;
      if (at < pane.scrollTop + LINE || at > pane.scrollTop + pane.clientHeight - 2 * LINE) pane.scrollTop = Math.max(0, at - pane.clientHeight / 3);
    }
  }
  const panes = [new Pane("text", () => hlocb.state.step, () => hlocb.state.marks), new Pane("text-before", () => hlocb.state.before, () => hlocb.state.beforeMarks)];
  const render = (force) => { for (const p of panes) p.render(force); };
  const scrollTo = (i) => { for (const p of panes) p.scrollTo(i); };

  // opText returns the text of an op's first line.
  function opText(step, i) {
    const r = step.rows[i];
    if (r < 0 || step.line[r] < 0 || items.kind[i] !== hlocb.OP) return "";
    const line = step.line[r];
    let v = step.startOfLine(line);
    return strings[step.lines[line]].replace(/[\u0001\u0002]/g, (c) => {
      const name = step.valueName(step.lineValues[v++]);
      return c === "\u0002" ? name.replace(/#\d+$/, "") : name;
    }).trim();
  }

  hlocb.text = { render, scrollTo, opText };
})(window.hlocb);

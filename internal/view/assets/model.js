// The data of the page: items (ops, arguments and boxes, common to all steps) and steps. Strings are numbers of
// entries of data.strings. No other file reads the JSON.
"use strict";
window.hlocb = window.hlocb || {};
(function (hlocb) {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const data = read("data");
  const strings = data.strings;
  const items = data.items;
  const n = items.kind.length;
  const OP = 0, ARG = 1, REGION = 2, BLOCK = 3, SCOPE = 4, PART = 5;
  const ADDED = 1, CHANGED = 2, REMOVED = 4; // states of an item; 3 is moved

  // Children of each box, sorted by layer and place in the layer.
  const children = new Array(n).fill(null);
  for (let i = 0; i < n; i++) {
    const p = items.parent[i];
    if (p < 0) continue;
    if (children[p] === null) children[p] = [];
    children[p].push(i);
  }
  for (const list of children) {
    if (list) list.sort((a, b) => items.layer[a] - items.layer[b] || items.order[a] - items.order[b]);
  }
  // All items, each after its parent.
  const topDown = new Int32Array(n);
  {
    let filled = 0, next = 0;
    topDown[filled++] = 0;
    while (next < filled) {
      const list = children[topDown[next++]];
      if (list) for (const c of list) topDown[filled++] = c;
    }
  }
  const definer = new Int32Array(items.values); // the item of each value
  for (let i = 0; i < n; i++) {
    const end = i + 1 < n ? items.value[i + 1] : items.values;
    for (let v = items.value[i]; v < end; v++) definer[v] = i;
  }

  // prefix returns the start of each list in a table of lists, from their lengths.
  function prefix(lengths) {
    const out = new Int32Array(lengths.length + 1);
    for (let i = 0; i < lengths.length; i++) out[i + 1] = out[i] + lengths[i];
    return out;
  }

  // Step is the module at one moment. Most tables are by row: an op or an argument in program order.
  class Step {
    constructor(index) {
      const d = read("step-" + index);
      this.index = index;
      this.head = data.steps[index];
      this.items = d.items;
      this.rows = new Int32Array(n).fill(-1); // by item
      for (let r = 0; r < d.items.length; r++) this.rows[d.items[r]] = r;
      this.name = d.name;
      this.loc = d.loc;
      this.line = d.line;
      this.state = d.state;
      this.hook = d.hook;
      this.types = d.types;
      this.typeStart = prefix(d.results);
      this.operands = d.operands;
      this.operandStart = prefix(d.uses);
      this.callee = new Map(d.callee);
      this.detail = new Map(d.detail);
      this.removed = new Set(d.removed);
      this.made = new Map(); // by item: the rules that made or changed it
      for (const [i, s] of d.made || []) { if (!this.made.has(i)) this.made.set(i, []); this.made.get(i).push(strings[s]); }
      this.flow = d.flow;
      this.chain = new Set(d.chain);
      this.lines = d.lines;
      this.lineValues = d.values;
      this.names = new Map();
      for (let i = 0; i < d.nameOf.length; i += 2) this.names.set(d.nameOf[i], d.nameOf[i + 1]);
      this.written = new Map();
      for (let i = 0; i < d.written.length; i += 2) this.written.set(d.written[i], d.written[i + 1]);
      this.hookItem = new Map();
      for (let r = 0; r < d.hook.length; r++) if (d.hook[r] >= 0) this.hookItem.set(d.hook[r], d.items[r]);
      // present: the number of items inside each item that exist in this step, or that this step removed.
      this.present = new Int32Array(n);
      this.changes = new Int32Array(n); // changed items inside each item
      for (const i of d.items) this.present[i] = 1;
      for (let r = 0; r < d.state.length; r++) if (d.state[r] > 0) this.changes[d.items[r]] = 1;
      for (const i of this.removed) { this.present[i] = 1; this.changes[i] = 1; }
      for (let k = n - 1; k > 0; k--) {
        const i = topDown[k];
        this.present[items.parent[i]] += this.present[i];
        this.changes[items.parent[i]] += this.changes[i];
      }
    }

    // marks say what is drawn of a step, and how an item differs from the step before it; see between.
    get marks() {
      return { present: this.present, changes: this.changes, stateOf: (i) => this.index === 0 ? 0 : this.removed.has(i) ? REMOVED : this.rows[i] < 0 ? 0 : this.state[this.rows[i]] };
    }

    // inOrder returns the children of a box in program order; an op that this step removed goes by its number.
    inOrder(box) {
      if (!this.firstRow) {
        this.firstRow = new Float64Array(n).fill(Infinity);
        for (let r = this.items.length - 1; r >= 0; r--) this.firstRow[this.items[r]] = r;
        for (let k = n - 1; k > 0; k--) {
          const i = topDown[k], p = items.parent[i];
          if (p > 0 && items.kind[p] >= REGION) this.firstRow[p] = Math.min(this.firstRow[p], this.firstRow[i]);
        }
        this.ordered = new Map();
      }
      if (!this.ordered.has(box)) {
        const f = this.firstRow;
        this.ordered.set(box, (children[box] || []).slice().sort((a, b) => f[a] === f[b] ? a - b : f[a] - f[b]));
      }
      return this.ordered.get(box);
    }

    // exists says whether the item is an op or an argument of this step.
    exists(i) { return this.rows[i] >= 0; }

    rulesOf(i) { return this.made.get(i) || []; }

    opName(i) { const r = this.rows[i]; return r < 0 ? "" : strings[this.name[r]]; }

    operandsOf(i) {
      const r = this.rows[i];
      return r < 0 ? [] : this.operands.slice(this.operandStart[r], this.operandStart[r + 1]);
    }

    typesOf(i) {
      const r = this.rows[i];
      return r < 0 ? [] : this.types.slice(this.typeStart[r], this.typeStart[r + 1]).map((s) => strings[s]);
    }

    typeOf(v) {
      const i = definer[v];
      return this.typesOf(i)[v - items.value[i]] || "";
    }

    valuesOf(i) {
      const r = this.rows[i];
      if (r < 0) return [];
      const out = [];
      for (let k = 0; k < this.typeStart[r + 1] - this.typeStart[r]; k++) out.push(items.value[i] + k);
      return out;
    }

    // valueName is the name in the text: %12#1.
    valueName(v) { const s = this.names.get(v); return s === undefined ? "" : strings[s]; }

    // writtenName is the name in the file that the module was read from, or "". Taps know no other name.
    writtenName(v) { const s = this.written.get(v); return s === undefined ? this.valueName(v) : strings[s]; }

    locOf(i) {
      const r = this.rows[i];
      const l = r < 0 ? 0 : this.loc[r];
      return { text: strings[data.locs.text[l]], place: strings[data.locs.place[l]], name: strings[data.locs.name[l]], line: strings[data.locs.line[l]] };
    }

    hookOf(i) {
      const r = this.rows[i];
      return r < 0 || this.hook[r] < 0 || !data.hooks ? null : data.hooks.sites[this.hook[r]];
    }

    // users are the items that use each value: built when first asked for.
    usersOf(v) {
      if (!this.useStart) {
        const count = new Int32Array(items.values);
        for (const o of this.operands) if (o >= 0) count[o]++;
        this.useStart = prefix(count);
        this.useItem = new Int32Array(this.useStart[items.values]);
        const fill = this.useStart.slice();
        for (let r = 0; r < this.items.length; r++) {
          for (let k = this.operandStart[r]; k < this.operandStart[r + 1]; k++) {
            const o = this.operands[k];
            if (o >= 0) this.useItem[fill[o]++] = this.items[r];
          }
        }
        this.flowOf = new Map();
        for (let k = 0; k < this.flow.length; k += 2) {
          if (!this.flowOf.has(this.flow[k])) this.flowOf.set(this.flow[k], []);
          this.flowOf.get(this.flow[k]).push(this.flow[k + 1]);
        }
      }
      return this.useItem.subarray(this.useStart[v], this.useStart[v + 1]);
    }

    // lineValueStart is the position in lineValues of each line's first value.
    startOfLine(line) {
      if (!this.lineStart) {
        this.lineStart = new Int32Array(this.lines.length + 1);
        for (let k = 0; k < this.lines.length; k++) this.lineStart[k + 1] = this.lineStart[k] + marksIn(this.lines[k]);
      }
      return this.lineStart[line];
    }

    // itemOfLine returns the op whose text a line belongs to.
    itemOfLine(line) {
      if (!this.lineItem) {
        this.lineItem = new Int32Array(this.lines.length).fill(-1);
        for (let r = 0; r < this.items.length; r++) {
          if (this.line[r] >= 0 && items.kind[this.items[r]] === OP && this.lineItem[this.line[r]] < 0) this.lineItem[this.line[r]] = this.items[r];
        }
      }
      return this.lineItem[line];
    }
  }

  const marks = new Map(); // of templates
  function marksIn(template) {
    let k = marks.get(template);
    if (k === undefined) {
      k = 0;
      for (const c of strings[template]) if (c === "\u0001" || c === "\u0002") k++;
      marks.set(template, k);
    }
    return k;
  }

  const steps = new Map();
  function step(index) {
    if (!steps.has(index)) steps.set(index, new Step(index));
    return steps.get(index);
  }

  // between returns the marks of two steps beside each other. Each has only its own items; an item that the other step
  // does not have is removed on the left and added on the right.
  function between(left, right) {
    const touched = new Uint8Array(n);
    for (let k = Math.min(left.index, right.index) + 1; k <= Math.max(left.index, right.index); k++) {
      const s = step(k);
      for (let r = 0; r < s.items.length; r++) if (s.state[r] > 1 && touched[s.items[r]] !== CHANGED) touched[s.items[r]] = s.state[r];
    }
    const marks = (s, other, alone) => {
      const present = new Int32Array(n), changes = new Int32Array(n), state = new Uint8Array(n);
      for (const i of s.items) {
        present[i] = 1;
        state[i] = other.exists(i) ? touched[i] : alone;
        if (state[i] > 0) changes[i] = 1;
      }
      for (let k = n - 1; k > 0; k--) {
        const i = topDown[k];
        present[items.parent[i]] += present[i];
        changes[items.parent[i]] += changes[i];
      }
      return { present, changes, stateOf: (i) => state[i] };
    };
    return [marks(left, right, REMOVED), marks(right, left, ADDED)];
  }

  // shape writes a type short: tensor<2x128xf32> becomes f32[2,128].
  const shapes = new Map();
  function shape(type) {
    let s = shapes.get(type);
    if (s === undefined) {
      const m = /^tensor<((?:[0-9?]+x)*)([^x,<>]+|complex<[^<>]*>)/.exec(type);
      s = m ? m[2] + "[" + m[1].slice(0, -1).replaceAll("x", ",") + "]" : type.length > 24 ? type.slice(0, 23) + "…" : type;
      shapes.set(type, s);
    }
    return s;
  }

  // ancestors returns the boxes around an item, innermost first.
  function ancestors(i) {
    const out = [];
    for (let p = items.parent[i]; p >= 0; p = items.parent[p]) out.push(p);
    return out;
  }

  // classOf groups ops by what they do, for colours.
  const classes = new Map();
  function classOf(name) {
    let c = classes.get(name);
    if (c === undefined) {
      const short = name.replace(/^[a-z_]+\./, "");
      c = /^(dot|dot_general|convolution|cholesky|triangular_solve|fft)/.test(short) ? "matrix"
        : /^(constant|iota|rng)/.test(short) ? "constant"
        : /^(reduce|sort|select_and_scatter|scatter|map)/.test(short) ? "reduce"
        : /^(reshape|transpose|broadcast|slice|dynamic_|concatenate|pad|gather|reverse|bitcast|convert|copy|tuple|get_tuple)/.test(short) ? "move"
        : /^(while|if|case|call|for|composite|async|fusion)/.test(short) ? "control"
        : /^(all_|collective|reduce_scatter|partition_id|replica_id|send|recv|infeed|outfeed|custom_call|hook)/.test(short) ? "host"
        : /^(func|module|return|optimization_barrier|after_all)/.test(short) ? "frame"
        : "element";
      classes.set(name, c);
    }
    return c;
  }

  hlocb.OP = OP; hlocb.ARG = ARG; hlocb.REGION = REGION; hlocb.BLOCK = BLOCK; hlocb.SCOPE = SCOPE; hlocb.PART = PART;
  hlocb.REMOVED = REMOVED;
  hlocb.model = { data, strings, items, n, children, topDown, definer, step, between, shape, ancestors, classOf };

  // el makes an element. Text goes in as text, never as HTML: names come from modules.
  hlocb.el = function (tag, attributes, ...content) {
    const e = document.createElement(tag);
    for (const [k, v] of Object.entries(attributes || {})) {
      if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
      else if (v !== undefined && v !== false && v !== null) e.setAttribute(k, v === true ? "" : v);
    }
    for (const c of content) if (c !== null && c !== undefined) e.append(c);
    return e;
  };
  hlocb.$ = (id) => document.getElementById(id);
})(window.hlocb);

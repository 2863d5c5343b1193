// Reads the tables that 'run --events FILE.parquet' writes: Parquet with pages that are compressed by gzip, as internal/parquet
// writes them.
"use strict";
(function (hlocb) {
  const MAGIC = "PAR1";
  const bad = () => new Error("the Parquet file is damaged, or no table of 'hlocb run --events'");

  // Reader reads numbers and Thrift's compact protocol. Numbers are exact up to 2^53.
  class Reader {
    constructor(bytes) { this.b = bytes; this.at = 0; }
    byte() { if (this.at >= this.b.length) throw bad(); return this.b[this.at++]; }
    uvarint() { let v = 0; for (let scale = 1; ; scale *= 128) { const c = this.byte(); v += (c & 127) * scale; if (c < 128) return v; } }
    varint() { const v = this.uvarint(); return v % 2 === 1 ? -(v + 1) / 2 : v / 2; }
    bytes(n) { if (!(n >= 0) || this.at + n > this.b.length) throw bad(); this.at += n; return this.b.subarray(this.at - n, this.at); }

    // value reads a value: a struct as an object by field number, a list as an array.
    value(type, depth) {
      if (depth > 32) throw bad();
      switch (type) {
        case 1: return true;
        case 2: return false;
        case 3: return this.byte();
        case 4: case 5: case 6: return this.varint();
        case 7: return this.bytes(8);
        case 8: return new TextDecoder().decode(this.bytes(this.uvarint()));
        case 9: case 10: {
          const head = this.byte(), n = head >> 4 === 15 ? this.uvarint() : head >> 4, out = [];
          for (let k = 0; k < n; k++) out.push(this.value((head & 15) <= 2 ? 3 : head & 15, depth + 1));
          return out;
        }
        case 12: {
          const out = {};
          for (let id = 0; ;) {
            const head = this.byte();
            if (head === 0) return out;
            id = head >> 4 ? id + (head >> 4) : this.varint();
            out[id] = this.value(head & 15, depth + 1);
          }
        }
      }
      throw bad();
    }
  }

  // unpack returns n numbers of width bits.
  function unpack(b, n, width) {
    const out = new Float64Array(n);
    for (let i = 0, p = 0; i < n; i++) {
      let v = 0;
      for (let got = 0; got < width;) {
        const off = p & 7, take = Math.min(8 - off, width - got);
        v += (b[p >> 3] >> off & (1 << take) - 1) * 2 ** got;
        got += take; p += take;
      }
      out[i] = v;
    }
    return out;
  }

  // runs reads n numbers of width bits that are repeated or packed.
  function runs(b, n, width) {
    const r = new Reader(b), out = new Float64Array(n);
    for (let at = 0; at < n;) {
      const head = r.uvarint(), count = Math.floor(head / 2);
      if (count === 0) throw bad();
      if (head % 2 === 0) {
        let v = 0;
        for (let k = 0; k < width; k += 8) v += r.byte() * 2 ** k;
        out.fill(v, at, at + count);
        at += count;
      } else {
        const list = unpack(r.bytes(count * width), Math.min(n - at, 8 * count), width);
        out.set(list, at);
        at += list.length;
      }
    }
    return out;
  }

  // deltas reads n integers of DELTA_BINARY_PACKED.
  function deltas(b, n) {
    const r = new Reader(b), out = new Float64Array(n);
    const block = r.uvarint(), parts = r.uvarint(), total = r.uvarint(), size = block / parts;
    let last = r.varint();
    if (total !== n || !(size >= 8)) throw bad();
    if (n > 0) out[0] = last;
    for (let at = 1; at < n;) {
      const least = r.varint(), widths = r.bytes(parts);
      for (let k = 0; k < parts && at < n; k++) {
        const list = unpack(r.bytes(size / 8 * widths[k]), Math.min(size, n - at), widths[k]);
        for (const d of list) out[at++] = last += least + d;
      }
    }
    return out;
  }

  function floats(b, n) {
    if (b.length !== 8 * n) throw bad();
    const bytes = new Uint8Array(8 * n);
    for (let k = 0; k < 8; k++) for (let i = 0; i < n; i++) bytes[8 * i + k] = b[k * n + i];
    return new Float64Array(bytes.buffer);
  }

  async function inflate(b, gzip) {
    if (!gzip) return b;
    const stream = new Blob([b]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  // column returns the values of a column of a group, null for a row without one.
  async function column(file, meta, optional, rows) {
    const start = meta[11] > 0 ? Math.min(meta[9], meta[11]) : meta[9];
    const r = new Reader(new Uint8Array(await file.slice(start, start + meta[7]).arrayBuffer()));
    let words = null;
    for (;;) {
      const page = r.value(12, 0);
      let b = await inflate(r.bytes(page[3]), meta[4] === 2);
      if (page[1] === 2) { // the dictionary
        const d = new Reader(b);
        words = [];
        while (d.at < b.length) { const s = d.bytes(4); words.push(new TextDecoder().decode(d.bytes(s[0] + s[1] * 2 ** 8 + s[2] * 2 ** 16 + s[3] * 2 ** 24))); }
        continue;
      }
      let levels = null, n = rows;
      if (optional) {
        const size = b[0] + b[1] * 2 ** 8 + b[2] * 2 ** 16 + b[3] * 2 ** 24;
        levels = runs(b.subarray(4, 4 + size), rows, 1);
        b = b.subarray(4 + size);
        n = levels.reduce((a, x) => a + x, 0);
      }
      const list = words ? Array.from(runs(b.subarray(1), n, b[0]), (k) => words[k]) : meta[1] === 5 ? floats(b, n) : deltas(b, n);
      if (!levels) return list;
      let k = 0;
      return Array.from(levels, (x) => x ? list[k++] : null);
    }
  }

  // footer returns the last whole footer. A process that was killed may leave a part of one after it.
  async function footer(file) {
    const from = Math.max(0, file.size - (64 << 20));
    const b = new Uint8Array(await file.slice(from).arrayBuffer());
    for (let end = b.length; end >= 12; end--) {
      if (b[end - 1] !== 0x31 || b[end - 2] !== 0x52 || b[end - 3] !== 0x41 || b[end - 4] !== 0x50) continue;
      const n = b[end - 8] + b[end - 7] * 2 ** 8 + b[end - 6] * 2 ** 16 + b[end - 5] * 2 ** 24;
      if (n > end - 8) continue;
      try {
        const meta = new Reader(b.subarray(end - 8 - n, end - 8)).value(12, 0);
        if (Array.isArray(meta[2]) && Array.isArray(meta[4])) return meta;
      } catch (e) { /* the letters are in other bytes */ }
    }
    throw bad();
  }

  const is = async (file) => await file.slice(0, 4).text() === MAGIC;

  // read calls f with each event of a table.
  async function read(file, f) {
    const meta = await footer(file);
    const optional = new Map(meta[2].slice(1).map((x) => [x[4], x[3] === 1]));
    const wanted = ["process", "step", "device", "hook", "id", "kind", "location", "operand", "dtype", "shape", "value", "min", "max", "mean", "nan", "inf"];
    const shapes = new Map();
    const shapeOf = (s) => { if (!shapes.has(s)) shapes.set(s, JSON.parse(s)); return shapes.get(s); };
    const known = (v) => v === null ? NaN : v;
    let event = null;
    for (const group of meta[4]) {
      const t = {};
      for (const chunk of group[1]) {
        const name = chunk[3][3].join(".");
        if (wanted.includes(name)) t[name] = await column(file, chunk[3], optional.get(name), group[3]);
      }
      for (const name of wanted) if (!t[name]) throw bad();
      for (let i = 0; i < group[3]; i++) {
        const shape = shapeOf(t.shape[i]);
        const operand = t.value[i] !== null ? { dtype: t.dtype[i], shape, data: [t.value[i]] }
          : { dtype: t.dtype[i], shape, stats: { n: shape.reduce((a, d) => a * d, 1), min: known(t.min[i]), max: known(t.max[i]), mean: known(t.mean[i]), nan: t.nan[i] || 0, inf: t.inf[i] || 0 } };
        if (t.operand[i] > 0 && event) { event.operands.push(operand); continue; }
        if (event) f(event);
        event = { hook: t.hook[i], id: t.id[i], kind: t.kind[i], loc: t.location[i], place: t.location[i], process: t.process[i], device: t.device[i], step: t.step[i], operands: [operand] };
      }
    }
    if (event) f(event);
  }

  hlocb.parquet = { is, read };
})(window.hlocb);

// The slider over the steps: passes of a pipeline, or files that are compared.
"use strict";
(function (hlocb) {
  const { data } = hlocb.model;
  const { el, $ } = hlocb;

  function build() {
    const bar = $("passes");
    if (data.steps.length < 2) return;
    bar.hidden = false;
    const slider = el("input", { id: "step", type: "range", min: 0, max: data.steps.length - 1, value: 0, "aria-label": "Step" });
    slider.addEventListener("input", () => hlocb.showStep(Number(slider.value)));
    const list = el("ol", { id: "step-list" });
    data.steps.forEach((s, k) => {
      const same = s.same || [];
      const title = s.name + (s.counts ? ": " + s.counts : "") + (same.length ? "\nno change: " + same.join(", ") : "");
      list.append(el("li", {}, el("button", { type: "button", "data-step": k, title, onclick: () => hlocb.showStep(k) },
        el("span", { class: "step-name" }, s.name),
        same.length ? el("span", { class: "step-same" }, "+" + same.length) : null)));
    });
    bar.append(el("button", { type: "button", title: "Previous step ([)", "aria-label": "Previous step", onclick: () => hlocb.showStep(hlocb.state.index - 1) }, "◀"),
      slider, el("button", { type: "button", title: "Next step (])", "aria-label": "Next step", onclick: () => hlocb.showStep(hlocb.state.index + 1) }, "▶"),
      list, el("div", { id: "step-text" }));
  }

  function update() {
    if (data.steps.length < 2) return;
    const k = hlocb.state.index, s = data.steps[k];
    $("step").value = k;
    $("step").setAttribute("aria-valuetext", s.name);
    for (const b of document.querySelectorAll("#step-list button")) {
      const on = Number(b.dataset.step) === k;
      b.classList.toggle("current", on);
      if (on) { b.setAttribute("aria-current", "step"); b.scrollIntoView({ block: "nearest", inline: "nearest" }); } else b.removeAttribute("aria-current");
    }
    const parts = [el("span", {}, `${k + 1} of ${data.steps.length}`), el("strong", {}, s.name), el("span", {}, `${s.ops.toLocaleString("en")} ops`)];
    for (const [word, cls] of [["added", "added"], ["removed", "removed"], ["changed", "changed"], ["moved", "moved"]]) {
      const m = new RegExp("(\\d+) " + word).exec(s.counts || "");
      if (m) parts.push(el("span", { class: "chip " + cls }, `${m[1]} ${word}`));
    }
    if (k > 0 && s.counts === "no change") parts.push(el("span", { class: "chip" }, "no change"));
    if (s.rules && s.rules.length) parts.push(el("span", { class: "rules" }, "rules: ", ...s.rules.flatMap((r, i) => [i > 0 ? ", " : null, rule(r)])));
    if (s.same && s.same.length) parts.push(el("span", { class: "same" }, "then without a change: " + s.same.join(", ")));
    $("step-text").replaceChildren(...parts);
  }

  // rule is a button that shows the ops that a rule made or changed, if the step has any of them.
  function rule(r) {
    const text = `${r.name} ×${r.count}`, step = hlocb.state.step;
    const list = [...step.made].filter(([, rules]) => rules.includes(r.name)).map(([i]) => i);
    if (list.length === 0) return text;
    return el("button", { type: "button", class: "link", title: "Show the ops that the rule made or changed", onclick: () => hlocb.search.show(list, r.name) }, text);
  }

  hlocb.passes = { build, update };
})(window.hlocb);

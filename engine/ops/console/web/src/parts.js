// make builds an element from texts, attributes and other elements.
export function make(name, attributes = {}, ...children) {
  const svg = ["svg", "g", "rect", "path", "line", "text", "circle", "title"].includes(name);
  const e = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [k, v] of Object.entries(attributes)) {
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else e.setAttribute(k, v);
  }
  e.append(...children.filter((c) => c !== null && c !== undefined).map((c) => (c instanceof Node ? c : String(c))));
  return e;
}

// tableOf shows an answer as a table.
export function tableOf(t, caption) {
  const cell = (v, i) => make("td", { class: v === null ? "null" + (t.numeric[i] ? " n" : "") : t.numeric[i] ? "n" : "" }, v ?? "NULL");
  return make("div", { class: "scroll", role: "group", tabindex: "0", "aria-label": caption },
    make("table", {}, make("caption", {}, caption),
      make("thead", {}, make("tr", {}, ...t.columns.map((c, i) => make("th", { scope: "col", class: t.numeric[i] ? "n" : "" }, c)))),
      make("tbody", {}, ...t.rows.map((row) => make("tr", {}, ...row.map(cell))))));
}

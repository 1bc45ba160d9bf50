import { make } from "./parts.js";

const number = (v) => (v === null ? NaN : Number(v));
export const short = (v) => Number(v.toPrecision(6)).toLocaleString("en", { maximumFractionDigits: 6 });

// plain shows a number as answers do.
const plain = (v) => String(Number(v.toPrecision(12)));

// span words an interval whose ends may be unknown.
export function span(low, high, words = short) {
  if (Number.isFinite(low) && Number.isFinite(high)) return `${words(low)} to ${words(high)}`;
  if (Number.isFinite(low)) return `from ${words(low)}; upper end not known`;
  if (Number.isFinite(high)) return `up to ${words(high)}; lower end not known`;
  return "not known";
}

// told is how many digits after the point tell a hundredth of an interval's width.
const told = (width) => (width > 0 && Number.isFinite(width) ? Math.max(0, 2 - Math.floor(Math.log10(width))) : NaN);

// rounded shows a value with no more digits after the point than its interval tells.
function rounded(text, width) {
  const shown = text.split(".")[1]?.length ?? 0, most = told(width);
  return /e/i.test(text) || !(shown > most) ? text : Number(text).toFixed(Math.min(most, 100));
}

// copyWhole puts values with all their digits into what is copied: the title of a cell has them.
function copyWhole(event) {
  const chosen = getSelection();
  if (!chosen.rangeCount || chosen.isCollapsed) return;
  const range = chosen.getRangeAt(0), inside = range.commonAncestorContainer;
  const one = (inside.nodeType === Node.ELEMENT_NODE ? inside : inside.parentElement).closest("[title]");
  const part = range.cloneContents(), rows = [...part.querySelectorAll("tr")];
  const cells = (row) => [...row.querySelectorAll("th, td")].map((c) => c.title || c.textContent).join("\t");
  if (!one && !rows.length && !part.querySelector("td")) return;
  event.clipboardData.setData("text/plain", one ? one.title : (rows.length ? rows : [part]).map(cells).join("\n"));
  event.preventDefault();
}

// outward rounds an end of an interval away from the value, to the digits that the value is shown
// with, and of these no more than tell a hundredth of the interval.
function outward(end, text, width, up) {
  if (!Number.isFinite(end) || /e/i.test(text)) return end;
  const shown = text.split(".")[1]?.length ?? 0, most = told(width);
  const ten = 10 ** Math.min(shown, Number.isNaN(most) ? 6 : most);
  const scaled = end * ten, near = Math.round(scaled);
  return (Math.abs(scaled - near) < 1e-6 ? near : up ? Math.ceil(scaled) : Math.floor(scaled)) / ten;
}

// read takes the ends of intervals out of an answer: the last columns, a pair for each column of
// ends. values are the columns that hold numbers to draw, labels those before the first of them.
export function read(t, ends) {
  const own = t.columns.length - 2 * (ends?.length ?? 0);
  const interval = new Map((ends ?? []).map((column, i) => [column, (row) => [number(row[own + 2 * i]), number(row[own + 2 * i + 1])]]));
  let values = [...interval.keys()].filter((i) => t.numeric[i]);
  if (!values.length) values = t.numeric.slice(0, own).flatMap((n, i) => (n && (i > 0 || own === 1) ? [i] : []));
  const labels = [...Array(values.length ? values[0] : 0).keys()];
  const at = (row, i) => ({ value: number(row[i]), low: interval.get(i)?.(row)[0] ?? NaN, high: interval.get(i)?.(row)[1] ?? NaN });
  return { t, own, interval, values, labels, at, label: (row) => labels.map((i) => row[i] ?? "NULL").join(" · ") };
}

// factsOf shows an answer of one row in a line for each number; null where it is none.
export function factsOf(a) {
  if (a.t.rows.length !== 1 || !a.values.length) return null;
  const row = a.t.rows[0];
  return make("dl", { class: "facts" }, ...a.values.map((i) => {
    const p = a.at(row, i);
    const name = (a.labels.length ? a.label(row) + ", " : "") + a.t.columns[i];
    const known = Number.isFinite(p.value) && a.interval.has(i);
    return make("div", {}, make("dt", {}, name), make("dd", {}, make("b", {}, Number.isFinite(p.value) ? short(p.value) : row[i] ?? "NULL"),
      known ? make("span", {}, " 95 % interval: " + span(p.low, p.high)) : null));
  }));
}

// tableOf shows an answer as a table; beside each number with an interval stands that.
export function answerTable(a, caption) {
  const { t, own, interval } = a;
  const cell = (row, i) => {
    const v = row[i], p = interval.has(i) && v !== null ? a.at(row, i) : null;
    const text = p ? rounded(v, p.high - p.low) : v ?? "NULL";
    const attributes = { class: v === null ? "null" + (t.numeric[i] ? " n" : "") : t.numeric[i] ? "n" : "" };
    return make("td", text === v || v === null ? attributes : { ...attributes, title: v }, text);
  };
  const columns = [...Array(own).keys()];
  const ends = (row, i) => { const p = a.at(row, i); return make("td", { class: "n quiet" }, row[i] === null ? "–" : span(outward(p.low, row[i], p.high - p.low, false), outward(p.high, row[i], p.high - p.low, true), plain)); };
  const box = make("div", { class: "scroll", role: "group", tabindex: "0", "aria-label": caption },
    make("table", {}, make("caption", {}, caption),
      make("thead", {}, make("tr", {}, ...columns.flatMap((i) => [make("th", { scope: "col", class: t.numeric[i] ? "n" : "" }, t.columns[i]),
        interval.has(i) ? make("th", { scope: "col", class: "n" }, "95 % interval", make("span", { class: "sr" }, " of " + t.columns[i])) : null]))),
      make("tbody", {}, ...t.rows.map((row) => make("tr", {}, ...columns.flatMap((i) => [cell(row, i), interval.has(i) ? ends(row, i) : null]))))));
  box.addEventListener("copy", copyWhole);
  return box;
}

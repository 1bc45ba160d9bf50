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

// outward rounds an end of an interval away from the value, to the digits that the value is shown
// with, and of these no more than tell a hundredth of the interval.
function outward(end, text, width, up) {
  if (!Number.isFinite(end) || /e/i.test(text)) return end;
  const shown = text.split(".")[1]?.length ?? 0, told = width > 0 && Number.isFinite(width) ? Math.max(0, 2 - Math.floor(Math.log10(width))) : 6;
  const ten = 10 ** Math.min(shown, told);
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
  const cell = (v, i) => make("td", { class: v === null ? "null" + (t.numeric[i] ? " n" : "") : t.numeric[i] ? "n" : "" }, v ?? "NULL");
  const columns = [...Array(own).keys()];
  const ends = (row, i) => { const p = a.at(row, i); return make("td", { class: "n quiet" }, row[i] === null ? "–" : span(outward(p.low, row[i], p.high - p.low, false), outward(p.high, row[i], p.high - p.low, true), plain)); };
  return make("div", { class: "scroll", role: "group", tabindex: "0", "aria-label": caption },
    make("table", {}, make("caption", {}, caption),
      make("thead", {}, make("tr", {}, ...columns.flatMap((i) => [make("th", { scope: "col", class: t.numeric[i] ? "n" : "" }, t.columns[i]),
        interval.has(i) ? make("th", { scope: "col", class: "n" }, "95 % interval", make("span", { class: "sr" }, " of " + t.columns[i])) : null]))),
      make("tbody", {}, ...t.rows.map((row) => make("tr", {}, ...columns.flatMap((i) => [cell(row[i], i), interval.has(i) ? ends(row, i) : null]))))));
}

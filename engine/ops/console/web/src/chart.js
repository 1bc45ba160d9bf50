import { make } from "./parts.js";
import { short, span } from "./answer.js";

const mostBars = 60;
let width = 720; // of the chart that is drawn, in its own pixels

// chartOf draws one column of an answer by its labels: bars, or a line where labels are dates, with
// intervals where there are any. Null where there is nothing to draw. What is left out is said.
export function chartOf(a, column) {
  const { t } = a;
  if (!a.labels.length || t.rows.length < 2) return null;
  const points = t.rows.map((r) => ({ label: a.label(r), ...a.at(r, column) }));
  width = Math.max(300, Math.min(720, (document.getElementById("result").clientWidth || 720) - 2));
  const dated = a.labels.length === 1 && (/^(DATE|DATETIME|TIMESTAMP)$/.test(t.types[a.labels[0]]) || points.every((p) => /^\d{4}-\d{2}(-\d{2})?$/.test(p.label)));
  const shown = dated ? points.filter((p) => Number.isFinite(when(p))) : points.slice(0, mostBars);
  if (shown.filter((p) => Number.isFinite(p.value)).length < (dated ? 2 : 1)) return null;
  const ends = shown.flatMap((p) => [p.value, p.low, p.high]).filter(Number.isFinite);
  const drawn = dated ? line(shown, ends) : bars(shown, ends);
  const words = `${dated ? "Line" : "Bars"} of ${t.columns[column]} by ${a.labels.map((i) => t.columns[i]).join(", ")}${a.interval.has(column) ? ", with 95 % intervals" : ""}; the table below says the same.`;
  const left = points.length - shown.length;
  return make("figure", {},
    make("svg", { class: "chart", viewBox: `0 0 ${width} ${drawn.height}`, role: "img", "aria-label": words }, ...drawn.parts),
    left ? make("figcaption", { class: "small" }, dated ? `${left} of ${points.length} rows have no date to be drawn at; the table has them.` : `The chart shows the first ${mostBars} of ${points.length} rows; the table has all. ORDER BY … LIMIT picks others.`) : null);
}

const cut = (s, n) => (s.length > n ? s.slice(0, n - 1) + "…" : s);
const when = (p) => Date.parse(/^\d{4}-\d{2}$/.test(p.label) ? p.label + "-01" : p.label.replace(" ", "T"));
// brief shows a number of an axis.
const brief = (v) => (Math.abs(v) >= 1e5 || (v !== 0 && Math.abs(v) < 1e-3) ? v.toLocaleString("en", { notation: "compact", maximumSignificantDigits: 3 }) : short(v));

// ticks are round numbers between two ends, about so many of them.
function ticks(least, most, about) {
  const rough = (most - least) / about || 1;
  const ten = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((m) => m * ten >= rough) * ten;
  const out = [];
  for (let v = Math.ceil(least / step) * step; v <= most + step / 1e6; v += step) out.push(Number(v.toPrecision(12)));
  return out;
}

// whisker is an interval; an end that is not known is an arrow to the side of the plot.
function whisker(p, x, left, right, y) {
  const low = Number.isFinite(p.low), high = Number.isFinite(p.high);
  if (!low && !high) return null;
  const from = low ? x(p.low) : left, to = high ? x(p.high) : right;
  const end = (known, at, inward) => (known ? `M${at} ${y - 5}V${y + 5}` : `M${at + 5 * inward} ${y - 4}L${at} ${y}L${at + 5 * inward} ${y + 4}`);
  return make("path", { class: "whisker", d: `M${from} ${y}H${to}${end(low, from, 1)}${end(high, to, -1)}` });
}

function bars(points, ends) {
  const high = 26, top = 12, letters = width < 480 ? 12 : 24;
  const words = (p) => (Number.isFinite(p.value) ? brief(p.value) : "NULL");
  const left = Math.min(width / 2.6, 14 + 8.4 * Math.max(...points.map((p) => cut(p.label, letters).length)));
  const right = width - 14 - 7.4 * Math.max(...points.map((p) => words(p).length));
  const least = Math.min(0, ...ends), most = Math.max(0, ...ends);
  const x = (v) => left + ((v - least) / (most - least || 1)) * (right - left);
  const height = top + points.length * high + 30;
  const parts = ticks(least, most, width < 480 ? 3 : 5).flatMap((v) => [
    make("line", { class: v === 0 ? "zero" : "grid", x1: x(v), x2: x(v), y1: top, y2: height - 26 }),
    make("text", { class: "axis", x: x(v), y: height - 10, "text-anchor": "middle" }, brief(v))]);
  points.forEach((p, i) => {
    const y = top + i * high, middle = y + high / 2;
    const about = `${p.label}: ${Number.isFinite(p.value) ? short(p.value) : "NULL"}${Number.isFinite(p.low) || Number.isFinite(p.high) ? ", 95 % interval " + span(p.low, p.high) : ""}`;
    const drawn = [make("title", {}, about), make("rect", { class: "row", x: 0, y, width, height: high })];
    drawn.push(make("text", { x: left - 8, y: middle + 4, "text-anchor": "end" }, cut(p.label, letters)));
    if (Number.isFinite(p.value)) {
      drawn.push(make("rect", { class: "bar", x: Math.min(x(0), x(p.value)), y: y + 4, width: Math.abs(x(p.value) - x(0)), height: high - 8 }));
      drawn.push(whisker(p, x, left, right, middle));
    }
    drawn.push(make("text", { class: "axis", x: right + 8, y: middle + 4 }, words(p)));
    parts.push(make("g", {}, ...drawn));
  });
  return { parts, height };
}

function line(points, ends) {
  const height = 300, top = 14, left = 62, right = width - 16, bottom = height - 34;
  const least = Math.min(0, ...ends), most = Math.max(0, ...ends);
  const y = (v) => bottom - ((v - least) / (most - least || 1)) * (bottom - top);
  const sorted = points.toSorted((a, b) => when(a) - when(b));
  const first = when(sorted[0]), last = when(sorted[sorted.length - 1]);
  const x = (p) => left + ((when(p) - first) / (last - first || 1)) * (right - left);
  const parts = ticks(least, most, 5).flatMap((v) => [
    make("line", { class: v === 0 ? "zero" : "grid", x1: left, x2: right, y1: y(v), y2: y(v) }),
    make("text", { class: "axis", x: left - 8, y: y(v) + 4, "text-anchor": "end" }, brief(v))]);
  // a value that is NULL breaks the line and the band
  const runs = [[]];
  for (const p of sorted) {
    if (Number.isFinite(p.value)) runs[runs.length - 1].push(p);
    else if (runs[runs.length - 1].length) runs.push([]);
  }
  for (const run of runs.filter((r) => r.length)) {
    const bounded = run.filter((p) => Number.isFinite(p.low) && Number.isFinite(p.high));
    if (bounded.length > 1) parts.push(make("path", { class: "band", d: "M" + bounded.map((p) => `${x(p)} ${y(p.high)}`).join("L") + "L" + bounded.toReversed().map((p) => `${x(p)} ${y(p.low)}`).join("L") + "Z" }));
    parts.push(make("path", { class: "line", d: "M" + run.map((p) => `${x(p)} ${y(p.value)}`).join("L") }));
    if (sorted.length <= 60 || run.length === 1) run.forEach((p) => parts.push(make("circle", { class: "dot", cx: x(p), cy: y(p.value), r: 3 }, make("title", {}, `${p.label}: ${short(p.value)}`))));
  }
  [[sorted[0], "start"], [sorted[sorted.length - 1], "end"]].forEach(([p, anchor]) => parts.push(make("text", { class: "axis", x: x(p), y: height - 12, "text-anchor": anchor }, p.label)));
  return { parts, height };
}

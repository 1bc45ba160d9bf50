import { make } from "./parts.js";

let width = 720; // of the chart that is drawn, in its own pixels

// chartOf draws an answer of a label and a number: bars, or a line where labels are dates. Columns
// three and four are the ends of intervals where told. Null where there is nothing to draw.
export function chartOf(t, intervals) {
  const plain = t.columns.length === 2 || (t.columns.length === 4 && intervals);
  if (!plain || !t.numeric[1] || t.rows.length === 0 || t.rows.length > 200) return null;
  const number = (v) => (v === null ? NaN : Number(v));
  const points = t.rows.map((r) => ({ label: r[0] ?? "NULL", value: number(r[1]), low: intervals ? number(r[2]) : NaN, high: intervals ? number(r[3]) : NaN }));
  width = Math.max(340, Math.min(720, document.getElementById("result").clientWidth || 720));
  const ends = points.flatMap((p) => [p.value, p.low, p.high]).filter(Number.isFinite);
  if (!ends.length) return null;
  const dated = /^(DATE|DATETIME|TIMESTAMP)$/.test(t.types[0]) || points.every((p) => /^\d{4}-\d{2}(-\d{2})?$/.test(p.label));
  const drawn = dated && points.length > 1 ? line(points, ends) : bars(points, ends);
  const words = `${dated ? "Line" : "Bars"} of ${t.columns[1]} by ${t.columns[0]}${intervals ? ", with 95 % intervals" : ""}; the table below says the same.`;
  return make("svg", { class: "chart", viewBox: `0 0 ${width} ${drawn.height}`, role: "img", "aria-label": words }, ...drawn.parts);
}

const short = (v) => Number(v.toPrecision(6)).toLocaleString("en", { maximumFractionDigits: 6 });
const cut = (s, n) => (s.length > n ? s.slice(0, n - 1) + "…" : s);

// ticks are round numbers between two ends, some five of them.
function ticks(least, most) {
  const rough = (most - least) / 5 || 1;
  const ten = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((m) => m * ten >= rough) * ten;
  const out = [];
  for (let v = Math.ceil(least / step) * step; v <= most + step / 1e6; v += step) out.push(Number(v.toPrecision(12)));
  return out;
}

function bars(points, ends) {
  const high = 26, top = 12, left = Math.min(width / 4, 24 + 7.5 * Math.max(...points.map((p) => cut(p.label, 24).length))), right = width - Math.min(190, width / 2.4);
  const least = Math.min(0, ...ends), most = Math.max(0, ...ends);
  const x = (v) => left + ((v - least) / (most - least || 1)) * (right - left);
  const height = top + points.length * high + 30;
  const parts = ticks(least, most).flatMap((v) => [
    make("line", { class: v === 0 ? "zero" : "grid", x1: x(v), x2: x(v), y1: top, y2: height - 26 }),
    make("text", { class: "axis", x: x(v), y: height - 10, "text-anchor": "middle" }, short(v))]);
  points.forEach((p, i) => {
    const y = top + i * high, middle = y + high / 2;
    parts.push(make("text", { x: left - 8, y: middle + 4, "text-anchor": "end" }, cut(p.label, 24)));
    if (Number.isFinite(p.value)) parts.push(make("rect", { class: "bar", x: Math.min(x(0), x(p.value)), y: y + 4, width: Math.abs(x(p.value) - x(0)), height: high - 8 }));
    const bounded = Number.isFinite(p.low) && Number.isFinite(p.high);
    if (bounded) parts.push(make("path", { class: "whisker", d: `M${x(p.low)} ${middle}H${x(p.high)}M${x(p.low)} ${middle - 5}V${middle + 5}M${x(p.high)} ${middle - 5}V${middle + 5}` }));
    parts.push(make("text", { class: "axis", x: right + 10, y: middle + 4 }, Number.isFinite(p.value) ? short(p.value) + (bounded ? ` [${short(p.low)}, ${short(p.high)}]` : "") : "NULL"));
  });
  return { parts, height };
}

function line(points, ends) {
  const height = 300, top = 14, left = 70, right = width - 24, bottom = height - 34;
  const least = Math.min(0, ...ends), most = Math.max(0, ...ends);
  const y = (v) => bottom - ((v - least) / (most - least || 1)) * (bottom - top);
  const when = (p) => Date.parse(/^\d{4}-\d{2}$/.test(p.label) ? p.label + "-01" : p.label.replace(" ", "T"));
  const sorted = points.filter((p) => Number.isFinite(when(p))).sort((a, b) => when(a) - when(b));
  const first = when(sorted[0]), last = when(sorted[sorted.length - 1]);
  const x = (p) => left + ((when(p) - first) / (last - first || 1)) * (right - left);
  const parts = ticks(least, most).flatMap((v) => [
    make("line", { class: v === 0 ? "zero" : "grid", x1: left, x2: right, y1: y(v), y2: y(v) }),
    make("text", { class: "axis", x: left - 8, y: y(v) + 4, "text-anchor": "end" }, short(v))]);
  const shown = sorted.filter((p) => Number.isFinite(p.value));
  const bounded = shown.filter((p) => Number.isFinite(p.low) && Number.isFinite(p.high));
  if (bounded.length > 1) parts.push(make("path", { class: "band", d: "M" + bounded.map((p) => `${x(p)} ${y(p.high)}`).join("L") + "L" + bounded.toReversed().map((p) => `${x(p)} ${y(p.low)}`).join("L") + "Z" }));
  parts.push(make("path", { class: "line", d: "M" + shown.map((p) => `${x(p)} ${y(p.value)}`).join("L") }));
  if (shown.length <= 60) shown.forEach((p) => parts.push(make("circle", { class: "dot", cx: x(p), cy: y(p.value), r: 3 })));
  [[sorted[0], "start"], [sorted[sorted.length - 1], "end"]].forEach(([p, anchor]) => parts.push(make("text", { class: "axis", x: x(p), y: height - 12, "text-anchor": anchor }, p.label)));
  return { parts, height };
}

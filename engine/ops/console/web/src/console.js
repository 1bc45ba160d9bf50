// The console's page: it asks the server for names, prices and answers, and shows them. All texts
// from the server become text nodes; nothing is ever parsed as HTML.
import { makeEditor } from "./editor.js";
import { answerTable, factsOf, read } from "./answer.js";
import { chartOf } from "./chart.js";
import { remedies } from "./remedy.js";
import { make, tableOf } from "./parts.js";

const at = (id) => document.getElementById(id);
const token = document.documentElement.dataset.token;
let running = null;

const database = () => at("database").value;
const say = (text) => { at("status").textContent = text; };

async function call(name, body = {}, signal) {
  const r = await fetch("/console/api/" + name, {
    method: "POST", signal, credentials: "same-origin", cache: "no-store",
    headers: { "Content-Type": "application/json", "X-Scrim-Token": token },
    body: JSON.stringify({ database: database(), intervals: at("intervals").checked, ...body }),
  });
  const answer = await r.json();
  if (r.status === 401) {
    const again = make("p", { class: "problem", role: "alert" }, answer.message + " ", make("a", { href: "/console/login" }, "Log in"));
    at("told").replaceChildren(again);
  }
  if (!r.ok) throw answer;
  return answer;
}

const editor = makeEditor(at("editor"), document.documentElement.dataset.nonce, { run: () => run(), price: () => price() });

// A text that helps, with a button for each statement that it shows.
function helped(text) {
  const out = [make("p", {}, text)];
  for (const r of remedies(text, editor.text())) {
    out.push(make("button", { type: "button", onclick: () => { editor.set(r.statement); say("The statement is in the editor. Nothing was run."); } }, r.label));
  }
  return out;
}

function failed(p) {
  const number = p.number ? `Error ${p.number} (${p.state}). ` : "";
  return make("div", { class: "problem", role: "alert" }, ...helped(number + p.message));
}

function told(costs, warnings) {
  const out = costs?.length ? [make("div", { class: "notice note" }, ...costs.map((c) => make("p", {}, c)))] : [];
  for (const [level, , message, remedy] of warnings?.rows ?? []) {
    const note = level === "Note" ? "notice note" : "notice";
    const words = [make("b", {}, level + ": "), message];
    const help = remedy ? helped(remedy) : helped(message).slice(1);
    out.push(help.length ? make("details", { class: note }, make("summary", {}, ...words, " ", make("span", { class: "more" }, "What would help")), ...help) : make("div", { class: note }, ...words));
  }
  return out;
}

async function run() {
  if (running) return;
  running = new AbortController();
  at("cancel").hidden = false;
  at("run").disabled = true;
  at("linked").hidden = true;
  at("told").replaceChildren();
  at("result").replaceChildren();
  say("Running");
  try {
    const a = await call("run", { sql: editor.chosen() }, running.signal);
    if (a.message) {
      say("Not answered");
      at("told").replaceChildren(failed(a), ...told(a.costs));
    } else {
      const n = a.table.rows.length;
      say(a.table.columns.length ? `${a.table.cut ? "The first " : ""}${n} row${n === 1 ? "" : "s"} in ${a.seconds.toFixed(2)} s${a.costs ? "" : "; nothing was charged: the data are public"}` : `Done in ${a.seconds.toFixed(2)} s`);
      at("told").replaceChildren(...told(a.costs, a.warnings));
      show(a);
    }
  } catch (e) {
    if (e.name === "AbortError") say("Stopped. What was charged before stands.");
    else { say("Not answered"); if (e.message) at("told").append(failed(e)); }
  } finally {
    running = null;
    at("cancel").hidden = true;
    at("run").disabled = false;
  }
  refresh();
}

function show(a) {
  const answer = read(a.table, a.ends);
  const parts = [];
  if (a.table.cut) parts.push(make("p", { class: "notice" }, "There are more rows than the console shows. A client of MySQL gets them all."));
  if (a.table.columns.length && !a.table.rows.length) parts.push(make("p", { class: "notice note" }, "The answer has no rows."));
  const facts = factsOf(answer);
  if (facts) parts.push(facts);
  parts.push(...charts(answer));
  if (a.table.columns.length && a.table.rows.length) parts.push(answerTable(answer, "Answer"));
  at("result").replaceChildren(...parts);
  drawn = answer;
}

let drawn = null; // the answer that is shown

// charts are the chart of an answer, and where it could be of several columns, the choice.
function charts(answer) {
  const drawable = answer.values.filter((i) => chartOf(answer, i));
  if (!drawable.length) return [];
  const holder = make("div", { id: "chart" }, chartOf(answer, drawable[0]));
  if (drawable.length === 1) return [holder];
  const choice = make("select", { id: "charted", onchange: () => holder.replaceChildren(chartOf(answer, Number(choice.value))) },
    ...drawable.map((i) => make("option", { value: i }, answer.t.columns[i])));
  return [make("p", {}, make("label", { class: "inline", for: "charted" }, "Chart of "), choice), holder];
}

// A chart is drawn for the width that there is.
let resized = 0;
window.addEventListener("resize", () => {
  clearTimeout(resized);
  resized = setTimeout(() => {
    const holder = at("chart");
    if (!holder || !drawn) return;
    const column = Number(at("charted")?.value ?? drawn.values.find((i) => chartOf(drawn, i)));
    holder.replaceChildren(chartOf(drawn, column));
  }, 150);
});

const amount = (v) => (v === null ? null : Number(Number(v).toPrecision(3)).toString());

async function price() {
  say("Pricing");
  try {
    const t = await call("price", { sql: editor.chosen() });
    const get = (row, name) => row[t.columns.indexOf(name)];
    const list = t.rows.map((row) => {
      const name = get(row, "name");
      const remark = get(row, "remark");
      if (get(row, "item") === "budget") {
        const cost = get(row, "epsilon") !== null ? "ε " + amount(get(row, "epsilon")) : get(row, "rho") !== null ? "ρ " + amount(get(row, "rho")) : "";
        const more = get(row, "queries");
        return [name, get(row, "holder") === "*" ? "everybody together" : get(row, "holder"), cost, get(row, "fits") === "yes" ? "fits" + (more !== null ? `, ${more} like it in all` : "") : "does not fit", remark];
      }
      const error = get(row, "expected_error");
      return [name, get(row, "item"), "", error !== null ? "expected error ± " + amount(error) : "", remark];
    });
    say("Priced; nothing was charged");
    at("told").replaceChildren();
    at("result").replaceChildren(tableOf({ columns: ["What", "Of", "Cost", "Verdict", "Remark"], rows: list.map((row) => row.map((v) => v ?? "")), numeric: [] }, "Price; nothing was charged"));
  } catch (e) { say("No price"); if (e.message) at("told").replaceChildren(failed(e)); }
}

async function explain() {
  say("Planning");
  try {
    const t = await call("explain", { sql: editor.chosen() });
    say("The plan; nothing was charged");
    at("told").replaceChildren();
    at("result").replaceChildren(make("pre", { tabindex: "0", "aria-label": "Plan" }, t.rows.map((r) => r.join("\t")).join("\n")));
  } catch (e) { say("No plan"); if (e.message) at("told").replaceChildren(failed(e)); }
}

async function loadNames() {
  const { columns, policies, words } = await call("names");
  const state = new Map(policies.rows.map(([name, s]) => [name, s]));
  const schema = {};
  for (const [db, table, column, type] of columns.rows) ((schema[db] ??= {})[table] ??= []).push([column, type]);
  const names = Object.keys(schema);
  at("database").replaceChildren(...names.map((n) => make("option", { value: n }, n)));
  const wanted = new URLSearchParams(location.hash.slice(1)).get("db") ?? sessionStorage.getItem("database");
  if (names.includes(wanted)) at("database").value = wanted;
  const draw = () => {
    const db = database();
    sessionStorage.setItem("database", db ?? "");
    const list = Object.entries(schema[db] ?? {}).map(([table, cols]) => make("details", {},
      make("summary", {}, table + " ", make("span", { class: "badge" }, state.get(db + "." + table) ?? "view")),
      make("ul", {}, ...cols.map(([c, type]) => make("li", {},
        make("button", { type: "button", class: "link", onclick: () => editor.insert(c) }, c), make("span", { class: "small" }, type.toLowerCase()))))));
    at("tables").replaceChildren(...(list.length ? list : [make("p", { class: "small" }, "There is no table that you may read.")]));
    editor.complete(schema, db, words.rows);
  };
  at("database").addEventListener("change", draw);
  draw();
}

async function refresh() {
  try {
    const b = await call("budget");
    const get = (row, name) => row[b.columns.indexOf(name)];
    const list = b.rows.map((row) => {
      const left = get(row, "questions_left");
      const rest = get(row, "remaining_epsilon") !== null ? "ε " + amount(get(row, "remaining_epsilon")) : get(row, "remaining_rho") !== null ? "ρ " + amount(get(row, "remaining_rho")) : "";
      return make("div", { class: "left" }, make("b", {}, left ?? "–"), ` question${left === "1" ? "" : "s"} on `, make("code", {}, get(row, "account")),
        make("div", { class: "small" }, `${rest ? rest + " left, " : ""}${get(row, "budget_window")}; ${get(row, "principal")}`));
    });
    at("budget").replaceChildren(...(list.length ? list : [make("p", { class: "small" }, "There is no budget of yours to show. A price says whether a statement fits.")]));
    const h = await call("history");
    at("history").replaceChildren(...h.rows.map((row) => make("div", { class: "past" }, make("code", {}, row[3]),
      make("button", { type: "button", class: "link", onclick: () => { editor.set(row[3]); say("The statement is in the editor, without its literals. Nothing was run."); } }, "Into the editor"),
      make("span", { class: "small" }, `${row[1]?.slice(0, 16)}, ${row[2] === "replay" ? "free" : row[5] !== null ? "ε " + amount(row[5]) : "ρ " + amount(row[6])}${row[8] ? "; " + row[8] : ""}`))),
      make("p", { class: "small" }, "The ledger has statements without their literals."));
  } catch (e) { if (!e.message) say("The server does not answer"); }
}

function share() {
  const link = location.origin + "/console#" + new URLSearchParams({ db: database() ?? "", q: editor.text() });
  history.replaceState(null, "", link);
  navigator.clipboard.writeText(link).then(() => say("The link is copied; it holds the statement and its literals, not the answer."), () => say("The link is in the address bar."));
}

at("run").addEventListener("click", run);
at("cancel").addEventListener("click", () => running?.abort());
at("price").addEventListener("click", price);
at("explain").addEventListener("click", explain);
at("share").addEventListener("click", share);

const q = new URLSearchParams(location.hash.slice(1)).get("q");
if (q) { editor.set(q); at("linked").hidden = false; }
loadNames().then(refresh).catch((e) => say(e.message ?? "The server does not answer"));

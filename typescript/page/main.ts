// The page behind a link: it explains, asks, randomises, shows what will be sent, and sends it. All that it sends is the request for
// the round's public parameters and, when the person says so, one report. What is typed stays in the document.

import { body, bytesOf, type Entry, fetchParams, type Link, ParameterError, parseLink, type Params, send, Wallet } from "../src/index.js";
import { type Choice, choices, kept, loss, none, number, odds, purpose, summary, trouble } from "./words.js";

const server = location.origin;

function element<T extends HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

/** make makes an element with a text. */
function make(tag: string, text = "", attributes: Record<string, string> = {}): HTMLElement {
  const e = document.createElement(tag);
  e.textContent = text;
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  return e;
}

/** show leaves one step of the page open, and takes the reader there. */
function show(step: string): void {
  for (const id of ["ask", "made", "thanks"]) element(id).hidden = id !== step;
  if (step !== "ask") element(step).focus();
}

const say = (text: string): void => void (element("status").textContent = text);

/** fail tells an error, with a button where the same may be tried again. */
function fail(e: unknown, again: () => void): void {
  say("");
  const t = trouble(e, navigator.onLine);
  const box = element("trouble");
  box.replaceChildren(make("p", t.text));
  if (t.again) {
    const button = make("button", "Try again", { type: "button" });
    button.addEventListener("click", () => {
      box.hidden = true;
      again();
    });
    box.append(button);
  }
  box.hidden = false;
  box.focus();
}

/** Page is what the link and the verified parameters make of it. */
class Page {
  private readonly wallet = new Wallet(localStorage);

  private readonly list: readonly Choice[] | undefined;

  constructor(private readonly link: Link, private readonly p: Params) {
    this.list = choices(p, link.choices);
  }

  async open(): Promise<void> {
    const { p, link, list } = this;
    element("collection").textContent = `${p.collection} at ${location.host}` + (p.stratum === "" ? "" : `, group ${p.stratum}`);
    element("purpose").textContent = purpose(p);
    element("loss").replaceChildren(...loss(p).map((text) => make("p", text)));
    const o = odds(p, link.token.cell, list);
    element("sent").textContent = o.sent;
    const row = (cells: string[], tag: string): HTMLElement => {
      const tr = make("tr");
      tr.append(...cells.map((text, i) => (tag === "td" && i === 0 ? make("th", text, { scope: "row" }) : make(tag, text, tag === "th" ? { scope: "col" } : {}))));
      return tr;
    };
    element("odds").replaceChildren(row(o.head, "th"), ...o.rows.map((cells) => row(cells, "td")));
    element("question").textContent = link.question === "" ? "What is your answer?" : link.question;
    element("none").textContent = none(p, list);
    element("fingerprint").textContent = p.fingerprint;
    this.input();
    element("explained").hidden = false;
    this.account();
    const before = await this.wallet.find(p, link.token);
    if (before === undefined) {
      show("ask");
      this.room();
    } else if (before.accepted) {
      element("already").hidden = false;
      this.thank();
    } else {
      this.preview(before);
    }
  }

  /** input makes what the question is answered by. */
  private input(): void {
    const { p, list } = this;
    const box = element("input");
    box.replaceChildren();
    if (list === undefined) {
      const label = make("label", `A number, from ${number(p.lo)} to ${number(p.hi)}`, { for: "value" });
      const hint = make("p", "What is beyond counts like the nearest end.", { id: "hint", class: "small" });
      const field = make("input", "", { id: "value", name: "value", type: "text", inputmode: "decimal", autocomplete: "off", "aria-describedby": "hint" });
      box.append(label, field, hint);
    } else {
      list.forEach(({ label, value }) => box.append(radio(label, String(value))));
    }
    element("skip").replaceChildren(radio("I would rather not say", ""));
    element("answer").addEventListener("submit", (event) => {
      event.preventDefault();
      void this.randomise();
    });
    // a number that is typed takes the mark from "rather not say"
    box.addEventListener("input", () => document.querySelectorAll<HTMLInputElement>("#skip input").forEach((r) => (r.checked = false)));
  }

  /** value reads the answer: null for none, undefined where there is nothing to report. */
  private value(): number | null | undefined {
    const picked = document.querySelector<HTMLInputElement>("#answer input[type=radio]:checked");
    if (picked !== null) return picked.value === "" ? null : Number(picked.value);
    const text = (document.getElementById("value") as HTMLInputElement | null)?.value.trim().replace(",", ".") ?? "";
    const x = Number(text);
    return text === "" || !Number.isFinite(x) ? undefined : x;
  }

  /** randomise makes the report, once. The answer is forgotten with it. */
  private async randomise(): Promise<void> {
    const v = this.value();
    element("wrong").hidden = v !== undefined;
    if (v === undefined) return element("wrong").focus();
    try {
      const entry = await this.wallet.make(this.p, this.link.token, v);
      element<HTMLFormElement>("answer").reset();
      this.account();
      this.preview(entry);
    } catch (e) {
      fail(e, () => void this.randomise());
    }
  }

  /** preview shows what will be sent. */
  private preview(entry: Entry): void {
    const bytes = bytesOf(entry);
    element("kept").textContent = kept(this.p, this.link.token.cell, bytes, this.list);
    element("body").textContent = body(this.link.token, bytes);
    const button = element<HTMLButtonElement>("send");
    button.onclick = () => void this.send(entry, button);
    show("made");
  }

  private async send(entry: Entry, button: HTMLButtonElement): Promise<void> {
    button.disabled = true;
    say("Sending");
    try {
      await send(server, this.link.collection, this.link.token, bytesOf(entry));
      await this.wallet.accepted(entry.uuid);
      say("");
      this.account();
      this.thank();
    } catch (e) {
      fail(e, () => void this.send(entry, button));
    } finally {
      button.disabled = false;
    }
  }

  /** thank ends the page's work. The token is spent; it is taken out of the address and the history. */
  private thank(): void {
    history.replaceState(null, "", location.pathname);
    show("thanks");
  }

  /** room says what this report would cost beside the others, and closes the form where that is too much. */
  private room(): void {
    const ok = this.wallet.allows(this.p);
    const would = `With this one, the reports of this browser would cost ε = ${this.wallet.sumWith(this.p)} together`;
    element("room").textContent = ok ? `${would}.` : `${would}, which is more than the limit of ${this.wallet.cap} that stands below. You may leave it at that, or set another one.`;
    element("room").className = ok ? "small" : "notice";
    element<HTMLButtonElement>("randomise").disabled = !ok;
  }

  /** account shows what the reports of this browser have cost. */
  private account(): void {
    const w = this.wallet;
    element("spent").textContent = summary(w.entries, w.spent, w.cap);
    element("reports").replaceChildren(...w.entries.map((e) => make("li", `${e.made}: ${e.collection}, ε = ${e.epsilon}, ${e.accepted ? "arrived" : "not sent yet, or not known to have arrived"}`)));
    const field = element<HTMLInputElement>("cap");
    field.value = w.cap;
    element("limit").onsubmit = (event) => {
      event.preventDefault();
      try {
        w.setCap(field.value.trim());
        element("limited").textContent = `The limit is ${w.cap} now.`;
        this.account();
        this.room();
      } catch (e) {
        element("limited").textContent = e instanceof RangeError ? `This is no limit: ${e.message}.` : trouble(e, navigator.onLine).text;
      }
    };
  }
}

function radio(label: string, value: string): HTMLElement {
  const outer = make("label", "", { class: "pick" });
  outer.append(make("input", "", { type: "radio", name: "value", value, autocomplete: "off" }), make("span", label));
  return outer;
}

async function start(): Promise<void> {
  const link = parseLink(location.hash);
  if (link === undefined) {
    say("");
    element("trouble").replaceChildren(make("p", "This page is opened by a link that somebody gave you. The address has no such link, or only a part of it: open it again from where you got it."));
    element("trouble").hidden = false;
    return;
  }
  try {
    const p = await fetchParams(server, link.collection, link.token);
    if (p.cells[link.token.cell] === undefined) throw new ParameterError("the link is for a group of people that it does not have");
    await new Page(link, p).open();
    say("");
  } catch (e) {
    fail(e, () => void start());
  }
}

window.addEventListener("hashchange", () => location.reload());
void start();

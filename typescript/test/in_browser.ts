// What runs in a browser, in a page of another site than the server's: Go's vectors, and people who report over HTTPS. The result
// goes back to where the page came from.

import { contribute, fetchParams, parseToken, Refused, verify } from "../src/index.js";
import { hex } from "../src/params.js";
import { reportBy } from "../src/report.js";
import { type Vector } from "./vector.js";

interface Task {
  vectors: Vector[];
  server: string;
  collection: string;
  tokens: string[];
  value: number;
}

async function run(task: Task): Promise<string> {
  let same = 0;
  for (const v of task.vectors) {
    const p = await verify(new TextEncoder().encode(v.params), v.fingerprint);
    const words = v.words.match(/.{16}/g) ?? [];
    let at = 0;
    const report = hex(reportBy(() => BigInt("0x" + words[at++]!), p, v.cell, v.value));
    if (report !== v.report || at !== words.length) throw new Error("a report differs from Go's: " + report);
    same++;
  }
  for (const [i, text] of task.tokens.entries()) {
    localStorage.clear(); // another person
    await contribute(localStorage, task.server, task.collection, parseToken(text), task.value);
    if (i === 0) await contribute(localStorage, task.server, task.collection, parseToken(text), task.value + 1); // the same bytes
  }
  localStorage.clear();
  const unknown = { ...parseToken(task.tokens[0]!), secret: "00".repeat(16) };
  const e = await contribute(localStorage, task.server, task.collection, unknown, 1).then(() => undefined, (e: unknown) => e);
  if (!(e instanceof Refused) || e.code !== "UNKNOWN_TOKEN") throw new Error("an unknown token: " + String(e));
  const p = await fetchParams(task.server, task.collection, parseToken(task.tokens[0]!));
  return `${same} vectors of Go, ${task.tokens.length} reports with epsilon ${p.epsilonText}`;
}

fetch("/task")
  .then(async (r) => run((await r.json()) as Task))
  .then((text) => ({ ok: true, text }), (e: unknown) => ({ ok: false, text: String(e) }))
  .then(async (result) => fetch("/result", { method: "POST", body: JSON.stringify(result) }));

// Reports by everybody of tokens.txt to a running server: node end_to_end.js SERVER COLLECTION TOKENS VALUE. What the first
// has sent is sent again, with a store that knows it and with one that has forgotten it.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { contribute, fetchParams, parseToken, Refused, report, send, type Store } from "../src/index.js";

const [server, collection, file, value] = process.argv.slice(2) as [string, string, string, string];

function store(): Store {
  const kept = new Map<string, string>();
  return { getItem: (key) => kept.get(key) ?? null, setItem: (key, v) => void kept.set(key, v) };
}

const tokens = readFileSync(file, "utf8").trim().split("\n").map(parseToken);
const first = store();
await contribute(first, server, collection, tokens[0]!, Number(value));
await contribute(first, server, collection, tokens[0]!, Number(value) + 1); // the same bytes: the value is looked at no more
for (const token of tokens.slice(1)) await contribute(store(), server, collection, token, Number(value));

const p = await fetchParams(server, collection, tokens[0]!);
const other = report(p, tokens[0]!.cell, Number(value));
other.set([1 - other[16]!], 16);
const codes = new Set<string>();
for (const bytes of [other, other.map((b, i) => (i === 16 ? 1 - b : b))]) {
  await send(server, collection, tokens[0]!, bytes).catch((e: unknown) => {
    assert.ok(e instanceof Refused);
    codes.add(e.code);
  });
}
assert.deepEqual([...codes], ["SPENT_TOKEN"]); // of the two bits one is what was sent
await assert.rejects(contribute(store(), server, collection, { ...tokens[0]!, secret: "00".repeat(16) }, 1), (e) => e instanceof Refused && e.code === "UNKNOWN_TOKEN");
await assert.rejects(fetchParams(server, "nothing", tokens[0]!), (e) => e instanceof Refused && e.status === 404);
console.log(tokens.length, "reports were taken, and nobody reported twice");

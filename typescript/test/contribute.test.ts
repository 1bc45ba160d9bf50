import assert from "node:assert/strict";
import { test } from "node:test";

import { Rand } from "../src/coins.js";
import { parseToken } from "../src/index.js";
import { hex, ParameterError, verify } from "../src/params.js";
import { reportBy } from "../src/report.js";
import { vectorsOfGo } from "./vectors.js";

const bytes = (text: string) => new TextEncoder().encode(text);

/** words gives out words that were written down. */
function words(text: string): { bits: () => bigint; left: () => number } {
  const list = text.match(/.{16}/g) ?? [];
  let at = 0;
  return { bits: () => BigInt("0x" + list[at++]!), left: () => list.length - at };
}

/** seeded is a stream of words for statistics: splitmix64. */
function seeded(seed: bigint): () => bigint {
  const mask = (1n << 64n) - 1n;
  let at = seed;
  return () => {
    at = (at + 0x9e3779b97f4a7c15n) & mask;
    let z = at;
    z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & mask;
    z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & mask;
    return z ^ (z >> 31n);
  };
}

test("Go's vectors come out to the byte", async () => {
  for (const v of vectorsOfGo()) {
    const p = await verify(bytes(v.params), v.fingerprint);
    const source = words(v.words);
    assert.equal(hex(reportBy(source.bits, p, v.cell, v.value)), v.report);
    assert.equal(source.left(), 0, "words that Go has drawn and TypeScript has not");
  }
});

test("parameters that leak more, or are not canonical, are refused", async () => {
  const text = vectorsOfGo().find((v) => v.params.includes("LDP_BIT"))!.params;
  const tree = vectorsOfGo().find((v) => v.params.includes("KRR"))!.params;
  const keep = /"keep_num":"(\d+)"/.exec(text)![1]!;
  const bent = [
    text.replace(keep, String(BigInt(keep) + 1n)), text.replace(keep, String(BigInt(keep) - 1n)), text.replace('"epsilon":"1"', '"epsilon":"1.0"'),
    text.replace('"epsilon":"1"', '"epsilon":"2"'), text.replace('"epsilon":"1"', '"epsilon":1'), text.replace('"epsilon":"1"', '"epsilon":"9"'), text.replace("{", "{ "), text + "\n",
    text.replace('"version":1', '"version":2'), text.replace('"version":1', '"version":1,"version":1'), text.replace('"round":1', '"round":2'),
    text.replace('"BITMEAN"', '"BRR"'), text.replace('"domain":4294967296', '"domain":1'), text.replace('"published":{}', '"published":{"clip":1}'),
    text.replace('"hi":600', '"hi":6e2'), text.replace('"hi":600', '"hi":-1'), text.replace('"LDP_BIT"', '"SHUF_SUM"'), text.slice(0, -1), "\ufeff" + text, "null", "[]",
    tree.replace('"randomizer":"KRR"', '"randomizer":"OUE"'), tree.replace('"domain":16', '"domain":17'), tree.replace('"level":2', '"level":3'), tree.replace(/"cell":1,/, '"cell":2,'),
  ];
  await verify(bytes(text));
  await verify(bytes(tree));
  for (const b of bent) {
    assert.ok(b !== text && b !== tree);
    await assert.rejects(verify(bytes(b)), ParameterError, b.slice(0, 200));
  }
  await assert.rejects(verify(bytes(text), "00".repeat(32)), ParameterError);
  await assert.rejects(verify(Uint8Array.of(0xff, 0xfe)), ParameterError);
});

// Each bound is six and a half standard deviations: a false alarm in fewer than 1e-10 runs for each, were the seed not fixed.
const SIGMAS = 6.5;

function near(ones: number, n: number, p: number): boolean {
  return Math.abs(ones - n * p) <= SIGMAS * Math.sqrt(n * p * (1 - p));
}

test("a one-bit mean has the law that is promised, and a law beside it is noticed", async () => {
  const p = await verify(bytes(vectorsOfGo()[0]!.params));
  const bits = seeded(1n);
  const n = 20_000;
  const keep = Math.E / (Math.E + 1);
  for (const [value, share] of [[0, 0], [150, 0.25], [600, 1], [-50, 0], [1e9, 1], [null, 0.05], [NaN, 0.05]] as const) {
    let ones = 0;
    for (let i = 0; i < n; i++) ones += reportBy(bits, p, 0, value)[16]!;
    const law = share * keep + (1 - share) * (1 - keep);
    assert.ok(near(ones, n, law), `${value}: ${ones} of ${n}, want ${law}`);
    assert.ok(!near(ones, n, law + 0.05) && !near(ones, n, law - 0.05), "the test notices nothing");
  }
});

test("nodes of a tree have the law that is promised", async () => {
  const p = await verify(bytes(vectorsOfGo().find((v) => v.params.includes('"levels":5'))!.params));
  const bits = seeded(2n);
  const n = 20_000;
  const counts = [0, 0, 0, 0];
  for (let i = 0; i < n; i++) counts[reportBy(bits, p, 0, 45)[17]!]!++;
  counts.forEach((c, node) => assert.ok(near(c, n, (node === 1 ? Math.E : 1) / (Math.E + 3)), `node ${node}: ${c}`));
  const unary = p.cells.find((c) => c.randomizer === "OUE" && c.domain === 64)!;
  const ones = new Array<number>(64).fill(0);
  const m = 4_000;
  for (let i = 0; i < m; i++) {
    const payload = reportBy(bits, p, unary.cell, 45).subarray(16);
    for (let node = 0; node < 64; node++) ones[node]! += (payload[node >> 3]! >> (7 - (node & 7))) & 1;
  }
  ones.forEach((c, node) => assert.ok(near(c, m, node === 24 ? 0.5 : 1 / (Math.E + 1)), `bit ${node}: ${c}`));
});

test("uniform integers are uniform where 2^64 is no multiple", () => {
  // of words of which all low parts are too small nothing may come: the first is drawn anew
  const list = [0n, 1n << 63n];
  const r = new Rand(() => list.shift()!);
  assert.equal(r.uniform(3n), 1n);
  assert.equal(list.length, 0);
});

test("tokens are read as the issuer gives them out", () => {
  const secret = "9f86d081884c7d659a2feaa0c55ad015";
  assert.deepEqual(parseToken(secret), { secret, round: 1, cell: 0, stratum: "" });
  assert.deepEqual(parseToken(` ${secret}\t1\t3\tNULL\n`), { secret, round: 1, cell: 3, stratum: "" });
  assert.deepEqual(parseToken(`${secret} 1 2 south west`), { secret, round: 1, cell: 2, stratum: "south west" });
  for (const bad of ["", "00", secret + "0", secret + " 1", secret + "\n" + secret]) assert.throws(() => parseToken(bad));
});

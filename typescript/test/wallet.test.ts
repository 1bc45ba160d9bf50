import assert from "node:assert/strict";
import { test } from "node:test";

import { body, CapError, DamageError, parseLink, type Store, type Token, TwiceError, verify, Wallet } from "../src/index.js";
import { reportBy } from "../src/report.js";
import { secure } from "../src/coins.js";
import { choices, kept, loss, none, odds, trouble } from "../page/words.js";
import { vectorsOfGo } from "./vectors.js";

const SECRET = "9f86d081884c7d659a2feaa0c55ad015";
const token: Token = { secret: SECRET, round: 1, cell: 0, stratum: "" };
const params = async (has: string) => verify(new TextEncoder().encode(vectorsOfGo().find((v) => v.params.includes(has))!.params));

function store(): Store & { text: () => string | null } {
  const kept = new Map<string, string>();
  return { getItem: (key) => kept.get(key) ?? null, setItem: (key, v) => void kept.set(key, v), text: () => kept.get("scrim-wallet") ?? null };
}

test("a wallet adds up exactly, reports once and keeps no value", async () => {
  const p = await params('"LDP_BIT"');
  const s = store();
  const w = new Wallet(s);
  assert.deepEqual([w.spent, w.cap, w.sumWith(p)], ["0", "4", p.epsilonText]);
  const first = await w.make(p, token, 123.25);
  for (let i = 0; i < 20; i++) assert.deepEqual(await w.make(p, token, i), first);
  assert.ok(!s.text()!.includes("123.25") && !s.text()!.includes(SECRET));
  await assert.rejects(w.make(p, { ...token, secret: "00".repeat(16) }, 1), TwiceError);
  await assert.rejects(w.make({ ...p, fingerprint: "00".repeat(32) }, token, 1), TwiceError);
  const more = (uuid: string, epsilonText: string) => ({ ...p, uuid, epsilonText, epsilon: BigInt(Math.round(Number(epsilonText) * 10_000)) });
  for (let i = 0; i < 10; i++) await w.make(more(String(i), "0.1"), { ...token, secret: i.toString(16).padStart(32, "0") }, 1);
  await w.make(more("x", "0.1235"), token, 1);
  assert.equal(w.spent, "2.1235");
  w.setCap("2.2234");
  await assert.rejects(w.make(more("y", "0.1"), token, 1), CapError);
  assert.ok(!w.allows(more("y", "0.1")) && w.allows(more("y", "0.0999")));
  w.setCap("2.2235");
  await w.make(more("y", "0.1"), token, 1);
  assert.equal(w.spent, "2.2235");
  await w.accepted(p.uuid);
  assert.deepEqual(w.entries.filter((e) => e.accepted).map((e) => e.uuid), [p.uuid]);
  for (const bad of ["", "-1", "1e3", "1001", "0.00001", "NaN"]) assert.throws(() => w.setCap(bad), RangeError);
});

test("a damaged wallet is not begun anew", async () => {
  const p = await params('"LDP_BIT"');
  const s = store();
  await new Wallet(s).make(p, token, 1);
  const good = s.text()!;
  for (const bad of ["", "{", "null", "{}", "[]", good.replace('"version":1', '"version":2'), good.replace('"epsilon":"1"', '"epsilon":"0"'), good.replace('"cap":"4"', '"cap":"x"')]) {
    s.setItem("scrim-wallet", bad);
    await assert.rejects(new Wallet(s).make(p, token, 1), DamageError, bad);
    assert.equal(s.text(), bad);
  }
  const forgetful: Store = { getItem: () => null, setItem: () => undefined };
  await assert.rejects(new Wallet(forgetful).make(p, token, 1), DamageError);
});

test("what is sent has one length, whatever is answered", async () => {
  for (const v of vectorsOfGo()) {
    const p = await verify(new TextEncoder().encode(v.params));
    const lengths = new Set<number>();
    for (const value of [null, NaN, p.lo, p.hi, (p.lo + p.hi) / 2, -1e300, 1e300, 0]) lengths.add(body(token, reportBy(secure(), p, v.cell, value)).length);
    assert.equal(lengths.size, 1);
  }
});

test("links are read, and nothing else", () => {
  const link = parseLink(`#c=survey.way&t=${SECRET}&r=1&n=3&s=north+west&q=How%3F+%26+why+%231&a=on+foot&a=by+bus%2Btram`);
  assert.deepEqual(link, {
    collection: "survey.way", token: { secret: SECRET, round: 1, cell: 3, stratum: "north west" }, question: "How? & why #1", choices: ["on foot", "by bus+tram"],
  });
  for (const bad of ["", "#", "#c=way", `#t=${SECRET}`, `#c=way&t=${SECRET}0`, `#c=way&t=${SECRET}&n=x`, `#c=way&t=${SECRET}&r=-1`]) assert.equal(parseLink(bad), undefined);
  assert.equal(parseLink(`#c=way&t=${SECRET}&q=${"x".repeat(1000)}`)!.question.length, 300);
});

test("the page's words follow from the parameters", async () => {
  const bit = await params('"LDP_BIT"');
  assert.deepEqual(odds(bit, 0, undefined).rows, [["0", "26.9 %", "73.1 %"], ["300", "50.0 %", "50.0 %"], ["600", "73.1 %", "26.9 %"]]);
  assert.match(loss(bit).join(" "), /ε \(epsilon\) = 1\..*2\.718 times.*73\.1 %/);
  assert.equal(choices(bit, []), undefined);
  assert.deepEqual(choices(bit, ["never", "always"]), [{ label: "never", value: 0 }, { label: "always", value: 600 }]);
  assert.match(none(bit, undefined), /an answer of 30/);
  for (const v of vectorsOfGo()) {
    const p = await verify(new TextEncoder().encode(v.params));
    // the words for a report are those of its bytes, and each way's probabilities add up
    assert.match(kept(p, v.cell, Uint8Array.from(v.report.match(/../g)!, (b) => parseInt(b, 16)), undefined), /^The coins gave .*\d/);
    const o = odds(p, v.cell, undefined);
    assert.ok(o.rows.every((r) => r.length === o.head.length && r.slice(1).every((x) => /^\d+\.\d+ %$/.test(x))));
  }
  const tree = (await Promise.all(vectorsOfGo().map((v) => verify(new TextEncoder().encode(v.params))))).find((p) => p.protocol === "LDP_HIER")!;
  const labels = ["a", "b", "c"];
  const picked = choices(tree, labels)!;
  assert.deepEqual(picked.map((c) => Math.floor(((c.value - tree.lo) / (tree.hi - tree.lo)) * 4 ** tree.levels)), [0, 1, 2]);
  assert.ok(trouble(new TypeError("fetch"), false).text.includes("offline") && trouble(new TypeError("fetch"), true).again);
});

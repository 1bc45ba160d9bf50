// Writes testdata/contribute/typescript.json: reports by the parameters of Go's vectors, of fresh words and other values.

import { writeFileSync } from "node:fs";

import { secure } from "../src/coins.js";
import { hex, verify } from "../src/params.js";
import { reportBy } from "../src/report.js";
import { DIRECTORY, type Vector, vectorsOfGo } from "./vectors.js";

const out: Vector[] = [];
for (const v of vectorsOfGo()) {
  const p = await verify(new TextEncoder().encode(v.params));
  const value = v.value === null ? null : p.lo + (p.hi - p.lo) * ((out.length % 17) / 16);
  const source = secure();
  let words = "";
  const bits = () => {
    const word = source();
    words += word.toString(16).padStart(16, "0");
    return word;
  };
  const report = hex(reportBy(bits, p, v.cell, value));
  out.push({ params: v.params, fingerprint: p.fingerprint, cell: v.cell, value, words, report });
}
writeFileSync(new URL("typescript.json", DIRECTORY), "[\n" + out.map((v) => JSON.stringify(v)).join("\n,") + "\n]\n");

// What follows from a declaration of LDP_BIT and LDP_HIER: package engine/collections/collect, plan_mean.go, plan_tree.go and
// internal/strict. Numbers of IEEE 754 have the same bits here as there: only +, -, *, / and floor occur, each rounded once.

import { flipUnary, keepBinary, keepKary } from "./keep.js";

/** Declaration is what a collection declares. Epsilon is in ten-thousandths. */
export interface Declaration {
  protocol: "LDP_BIT" | "LDP_HIER";
  epsilon: bigint;
  expected: number;
  levels: number;
  zcdp: boolean;
}

/** Cell is one group of contributors, as its parameters have it. */
export interface Cell {
  cell: number;
  randomizer: "BITMEAN" | "KRR" | "OUE";
  domain: number;
  keep_num: string;
  quota: number;
  min: number;
  level?: number;
}

/** MEAN_STEPS is the domain of BITMEAN. */
export const MEAN_STEPS = 2 ** 32;

/** plan returns the cells of the one round and what they need together; undefined for too few contributors. */
export function plan(d: Declaration): { cells: Cell[]; min: number } | undefined {
  const e = strictExp(Number(d.epsilon) / 10_000);
  return d.protocol === "LDP_BIT" ? planBit(d, e) : planHier(d, e);
}

function planBit(d: Declaration, e: number): { cells: Cell[]; min: number } | undefined {
  const a = (e + 1) / (e - 1);
  const need = Math.ceil(25 * (a * a));
  if (d.expected < need) return undefined;
  const cell: Cell = { cell: 0, randomizer: "BITMEAN", domain: MEAN_STEPS, keep_num: String(keepBinary(d.epsilon)), quota: d.expected, min: need };
  return { cells: [cell], min: need };
}

function planHier(d: Declaration, e: number): { cells: Cell[]; min: number } | undefined {
  const v1 = (4 * e) / ((e - 1) * (e - 1));
  const side = 2.88 * d.levels;
  const need = Math.ceil(side * side * v1);
  if (d.expected < need) return undefined;
  const half = Math.floor((need + 2 * d.levels - 1) / (2 * d.levels));
  const cells: Cell[] = [];
  for (let i = 0; i < d.levels; i++) {
    const domain = 4 ** (i + 1);
    const kary = !d.zcdp && domain <= 3 * e + 2;
    const keep = kary ? keepKary(d.epsilon, BigInt(domain)) : flipUnary(d.epsilon);
    const quota = Math.floor(d.expected / d.levels) + (i < d.expected % d.levels ? 1 : 0);
    cells.push({ cell: i, randomizer: kary ? "KRR" : "OUE", domain, keep_num: String(keep), quota, min: half, level: i + 1 });
  }
  return { cells, min: Math.max(need, half * d.levels) };
}

// ln 2 in two parts, and the inverses of the factorials.
const LN2_HIGH = 0x162e42fef / 2 ** 33;
const LN2_LOW = 7.440617110012397e-11;
const INVERSE = (() => {
  const c = [0, 0];
  for (let n = 2, f = 1; n <= 20; n++) c[n] = 1 / (f *= n);
  return c;
})();

/** strictExp is e^x for 0 <= x <= 8 with the bits of package strict. */
function strictExp(x: number): number {
  const k = Math.floor(x * Math.LOG2E + 0.5);
  const r = x - k * LN2_HIGH - k * LN2_LOW;
  let sum = INVERSE[14]!;
  for (let n = 13; n >= 2; n--) sum = INVERSE[n]! + sum * r;
  return (1 + (r + sum * r * r)) * 2 ** k;
}

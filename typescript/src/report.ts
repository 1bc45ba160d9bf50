// A value becomes a report: its code in the cell, the randomiser, the bytes. Package engine/collections/collect/device in Go.

import { type Bits, Rand, secure } from "./coins.js";
import { flipUnary, keepBinary, keepKary } from "./keep.js";
import { type Params } from "./params.js";
import { type Cell } from "./plan.js";

const HEADER = 16;
const PROTOCOL = { LDP_BIT: 1, LDP_HIER: 6 } as const;

/**
 * report returns the report of a value, null for none, in a cell of verified parameters: randomised once with WebCrypto's
 * coins, epsilon-DP by itself. Never call it twice for one person: keep the bytes, and send the same ones again.
 */
export const report = (p: Params, cell: number, value: number | null): Uint8Array => reportBy(secure(), p, cell, value);

/** reportBy is report with given words, for tests. */
export function reportBy(bits: Bits, p: Params, cell: number, value: number | null): Uint8Array {
  const c = p.cells[cell];
  if (c === undefined || c.cell !== cell) throw new RangeError("the round has no such cell");
  const payload = randomise(new Rand(bits), p, c, value);
  const out = new Uint8Array(HEADER + payload.length);
  out.set([1, PROTOCOL[p.protocol], 1, 0]);
  new DataView(out.buffer).setUint32(4, cell);
  for (let i = 0; i < 8; i++) out[8 + i] = parseInt(p.fingerprint.slice(2 * i, 2 * i + 2), 16);
  out.set(payload, HEADER);
  return out;
}

/** randomise draws a payload. The probabilities are computed from epsilon here. */
function randomise(r: Rand, p: Params, c: Cell, value: number | null): Uint8Array {
  if (p.protocol === "LDP_BIT") {
    const steps = BigInt(Math.floor(fraction(p, value) * c.domain));
    const bit = r.uniform(BigInt(c.domain)) < steps;
    return Uint8Array.of(r.bernoulli62(keepBinary(p.epsilon)) === bit ? 1 : 0);
  }
  const leaves = 4 ** p.levels;
  const leaf = Math.min(Math.floor(fraction(p, value) * leaves), leaves - 1);
  const node = Math.floor(leaf / 4 ** (p.levels - c.level!));
  return c.randomizer === "KRR" ? kary(r, p, c, node) : unary(r, p, c, node);
}

/** fraction tells where a value lies in [lo, hi]; null and NaN are the collection's null_default. */
function fraction(p: Params, value: number | null): number {
  const v = value === null || Number.isNaN(value) ? p.nullDefault : value;
  const x = Math.min(Math.max(v, p.lo), p.hi);
  const f = (x / 2 - p.lo / 2) / (p.hi / 2 - p.lo / 2);
  return f >= 1 ? 1 : f > 0 ? f : 0;
}

function kary(r: Rand, p: Params, c: Cell, v: number): Uint8Array {
  const truth = r.bernoulli62(keepKary(p.epsilon, BigInt(c.domain)));
  const other = Number(r.uniform(BigInt(c.domain - 1)));
  const told = truth ? v : other >= v ? other + 1 : other;
  return Uint8Array.of(told >> 8, told & 0xff);
}

function unary(r: Rand, p: Params, c: Cell, v: number): Uint8Array {
  const flip = flipUnary(p.epsilon);
  const out = new Uint8Array(Math.ceil(c.domain / 8));
  for (let at = 0; at < out.length; at += 8) {
    const word = r.sixtyFour(flip);
    for (let i = 0; i < 8 && at + i < out.length; i++) out[at + i] = Number((word >> BigInt(56 - 8 * i)) & 0xffn);
  }
  const byte = Math.floor(v / 8);
  const place = 0x80 >> v % 8;
  out[byte] = r.coin() ? out[byte]! | place : out[byte]! & ~place;
  const over = c.domain % 8;
  if (over !== 0) out[out.length - 1]! &= (0xff << (8 - over)) & 0xff;
  return out;
}

// The integers that decide what a report gives away, recomputed from epsilon: package engine/collections/collect/exact, keep.go.

import { ONE62 } from "./coins.js";

/** EPSILON_UNIT is what epsilon is counted in: ten-thousandths. */
const EPSILON_UNIT = 10_000n;

/**
 * parseEpsilon reads a decimal from 0.05 to 8 with at most four digits after the point in its shortest form, in ten-thousandths.
 * It is undefined for anything else.
 */
export function parseEpsilon(text: unknown): bigint | undefined {
  if (typeof text !== "string" || !/^(0|[1-9])(\.\d{0,3}[1-9])?$/.test(text)) return undefined;
  const [whole, fraction = ""] = text.split(".");
  const n = BigInt(whole + fraction.padEnd(4, "0"));
  return n >= 500n && n <= 80_000n ? n : undefined;
}

/**
 * keepKary returns floor(2^62 e^eps / (e^eps + k - 1)), the probability over 2^62 with which k-ary response tells the truth.
 * Enclosures of e^eps are narrowed until both ends give the same integer.
 */
export function keepKary(epsilon: bigint, k: bigint): bigint {
  for (let precision = 192n; ; precision *= 2n) {
    const [lo, hi] = expBounds(epsilon, precision);
    const down = keep(lo, k, precision);
    if (down === keep(hi, k, precision)) return down;
  }
}

/** keepBinary is keepKary for one bit. */
export const keepBinary = (epsilon: bigint): bigint => keepKary(epsilon, 2n);

/** flipUnary returns the probability over 2^62 of another bit's 1 in unary encoding: 2^62 - keepBinary, rounded up. */
export const flipUnary = (epsilon: bigint): bigint => ONE62 - keepBinary(epsilon);

function keep(e: bigint, k: bigint, precision: bigint): bigint {
  return (e << 62n) / (((k - 1n) << precision) + e);
}

/** expBounds returns integers lo <= 2^precision e^eps <= hi by the Taylor series. */
function expBounds(epsilon: bigint, precision: bigint): [bigint, bigint] {
  let lo = 1n << precision;
  let hi = lo;
  let down = lo;
  let up = lo;
  for (let i = 1n; ; i++) {
    const den = EPSILON_UNIT * i;
    down = (down * epsilon) / den;
    up = (up * epsilon + den - 1n) / den;
    lo += down;
    hi += up;
    if (down === 0n && 2n * epsilon <= EPSILON_UNIT * (i + 1n)) return [lo, hi + 2n * up];
  }
}

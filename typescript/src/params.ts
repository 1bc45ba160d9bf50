// Public parameters of a round, read and verified: nothing of them is believed.

import { type Cell, type Declaration, plan } from "./plan.js";
import { parseEpsilon } from "./keep.js";

/** ParameterError says why a device must not report by parameters. */
export class ParameterError extends Error {}

/** Params are verified parameters. */
export interface Params {
  readonly collection: string;
  readonly uuid: string;
  readonly protocol: "LDP_BIT" | "LDP_HIER";
  readonly stratum: string;
  /** epsilon in ten-thousandths, and as it was declared */
  readonly epsilon: bigint;
  readonly epsilonText: string;
  readonly lo: number;
  readonly hi: number;
  readonly levels: number;
  readonly nullDefault: number;
  readonly cells: readonly Cell[];
  /** fingerprint is the SHA-256 of the bytes, in hex */
  readonly fingerprint: string;
}

const MAX_PARAMS = 1 << 20;
const MAX_MAGNITUDE = 1e100;

type Json = Record<string, unknown>;

/**
 * verify reads the bytes that a server sent. It plans the collection again from what is declared, writes the parameters that
 * follow, and compares all of their bytes: every probability, size and field, and the one canonical form. What differs is a
 * ParameterError, and nothing must be sent. Where fingerprint is given, in hex, the bytes must have it.
 */
export async function verify(bytes: Uint8Array, fingerprint?: string): Promise<Params> {
  if (bytes.length > MAX_PARAMS) throw new ParameterError("the parameters are longer than any collection's");
  const print = hex(new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", new Uint8Array(bytes))));
  if (fingerprint !== undefined && fingerprint !== print) throw new ParameterError("the fingerprint is not that of the parameters");
  const text = decode(bytes);
  const p = object(parse(text));
  const declared = object(p["declared"]);
  const epsilon = parseEpsilon(declared["epsilon"]);
  if (epsilon === undefined) throw new ParameterError("epsilon is not from 0.05 to 8");
  const protocol = p["protocol"];
  if (protocol !== "LDP_BIT" && protocol !== "LDP_HIER") throw new ParameterError("this library reports by LDP_BIT and LDP_HIER only");
  const shape = readShape(protocol, epsilon, declared);
  const strata = readStrata(declared["strata"]);
  const stratum = p["stratum"] === undefined ? "" : name(p["stratum"]);
  if (strata.length > 0 ? !strata.includes(stratum) : stratum !== "") throw new ParameterError("the stratum is none of the declared ones");
  const planned = plan(shape.declaration);
  if (planned === undefined) throw new ParameterError("the collection declares too few contributors");
  const want = canonical(p, declared, shape, strata, stratum, planned);
  if (want !== text) throw new ParameterError("the parameters are not those that their declaration gives");
  return Object.freeze({
    collection: String(p["collection"]), uuid: String(p["uuid"]), protocol, stratum, epsilon, epsilonText: String(declared["epsilon"]),
    lo: shape.lo, hi: shape.hi, levels: shape.declaration.levels, nullDefault: shape.nullDefault, cells: planned.cells, fingerprint: print,
  });
}

interface Shape {
  declaration: Declaration;
  lo: number;
  hi: number;
  nullDefault: number;
}

function readShape(protocol: "LDP_BIT" | "LDP_HIER", epsilon: bigint, d: Json): Shape {
  const lo = number(d["lo"] ?? 0);
  const hi = number(d["hi"] ?? 0);
  const expected = number(d["n_expected"]);
  const levels = protocol === "LDP_HIER" ? number(d["levels"]) : 0;
  const nulls = d["null_default"];
  const nullDefault = number(Array.isArray(nulls) && nulls.length === 1 ? nulls[0] : undefined);
  if (!(lo < hi) || !(hi - lo >= 1 / MAX_MAGNITUDE) || nullDefault < lo || nullDefault > hi) throw new ParameterError("lo, hi and null_default are no interval with a point");
  if (!Number.isInteger(expected) || expected < 1 || expected > 1e9) throw new ParameterError("n_expected is out of range");
  if (protocol === "LDP_HIER" && (!Number.isInteger(levels) || levels < 1 || levels > 6)) throw new ParameterError("levels are out of range");
  const option = d["option"];
  if (option !== undefined && !(protocol === "LDP_HIER" && option === "zcdp")) throw new ParameterError("the option is unknown");
  return { declaration: { protocol, epsilon, expected, levels, zcdp: option === "zcdp" }, lo, hi, nullDefault };
}

/** canonical writes parameters in the form of package engine/collections/collect, canonical.go: absent fields are left out. */
function canonical(p: Json, d: Json, s: Shape, strata: string[], stratum: string, planned: { cells: Cell[]; min: number }): string {
  const some = <T>(v: T, zero: T): T | undefined => (v === zero ? undefined : v);
  return JSON.stringify({
    version: 1,
    collection: collectionName(p["collection"]),
    uuid: uuid(p["uuid"]),
    protocol: s.declaration.protocol,
    round: 1,
    stratum: some(stratum, ""),
    declared: {
      epsilon: d["epsilon"], n_expected: s.declaration.expected, lo: some(s.lo, 0), hi: some(s.hi, 0), levels: some(s.declaration.levels, 0),
      null_default: [s.nullDefault], option: s.declaration.zcdp ? "zcdp" : undefined, strata: strata.length > 0 ? strata : undefined,
    },
    derived: { groups: [s.declaration.expected] },
    published: {},
    n_min: planned.min,
    cells: planned.cells,
  });
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ParameterError("the parameters are no text");
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ParameterError("the parameters are no JSON");
  }
}

function object(v: unknown): Json {
  if (typeof v !== "object" || v === null || Array.isArray(v)) throw new ParameterError("the parameters have another shape");
  return v as Json;
}

function number(v: unknown): number {
  if (typeof v !== "number" || !(Math.abs(v) <= MAX_MAGNITUDE)) throw new ParameterError("a declared number is missing or out of range");
  return v;
}

function readStrata(v: unknown): string[] {
  if (v === undefined) return [];
  if (!Array.isArray(v) || v.length === 0 || v.length > 256) throw new ParameterError("the strata are no list of names");
  return v.map(name);
}

function name(v: unknown): string {
  if (typeof v !== "string" || v === "" || v.trim() !== v || new TextEncoder().encode(v).length > 64) throw new ParameterError("a stratum has no name");
  return v;
}

function collectionName(v: unknown): string {
  if (typeof v !== "string" || !/^[\p{L}\p{Nd}_$-]+(\.[\p{L}\p{Nd}_$-]+)?$/u.test(v)) throw new ParameterError("the collection has no name");
  return v;
}

function uuid(v: unknown): string {
  if (typeof v !== "string" || !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(v)) throw new ParameterError("the collection has no UUID");
  return v;
}

/** hex writes bytes as digits of hex. */
export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
}

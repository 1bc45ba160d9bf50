// What a person has reported from this device, and what it costs together. It never holds a value.

import { parseEpsilon } from "./keep.js";
import { hex, ParameterError, type Params } from "./params.js";
import { report } from "./report.js";
import { type Token } from "./token.js";

/** Store keeps what was made, for good: localStorage, or a file of the person. */
export interface Store {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

/** Entry is the one report to a collection. It counts whether it arrived or not: nobody knows who has seen it. */
export interface Entry {
  readonly collection: string;
  readonly uuid: string;
  readonly fingerprint: string;
  /** epsilon as it was declared */
  readonly epsilon: string;
  readonly cell: number;
  /** token is the SHA-256 of the token, in hex */
  readonly token: string;
  /** report is what is sent, in hex */
  readonly report: string;
  /** made is the day, as in 2026-11-30 */
  readonly made: string;
  readonly accepted: boolean;
}

/** TwiceError refuses a second report to a collection, by other parameters or with another token. */
export class TwiceError extends ParameterError {}

/** CapError refuses a report that would cost more than the person allows. Nothing was made. */
export class CapError extends Error {}

/** DamageError refuses a wallet that cannot be read. It is never begun anew by itself: it would forget what was reported. */
export class DamageError extends Error {}

interface Contents {
  version: 1;
  cap: string;
  entries: Entry[];
}

const KEY = "scrim-wallet";
const FIRST_CAP = "4";
const UNIT = 10_000n;

/**
 * Wallet adds up what reports cost and lets a collection have one: made once, kept before it is sent, and the same for ever. Sums
 * are exact, in ten-thousandths. It knows this store only: what other browsers and devices have reported is not in it.
 */
export class Wallet {
  constructor(private readonly store: Store) {}

  get entries(): readonly Entry[] {
    return this.read().entries;
  }

  /** cap is what all reports together may cost; 4 where the person has set none. */
  get cap(): string {
    return this.read().cap;
  }

  /** spent is the sum of epsilon over all reports. */
  get spent(): string {
    return decimal(total(this.read()));
  }

  /** setCap sets the cap, a decimal with at most four digits after the point. One below what is spent allows no more. */
  setCap(text: string): void {
    if (units(text) === undefined) throw new RangeError("a limit is a number such as 2.5, from 0 to 1000, with at most four digits after the point");
    this.write({ ...this.read(), cap: text });
  }

  /** find returns the report to a collection of verified parameters. One that was made otherwise is an error: nobody reports twice. */
  async find(p: Params, token: Token): Promise<Entry | undefined> {
    return found(this.read(), p, await digest(token));
  }

  /** sumWith is what all reports would cost together with one by these parameters. */
  sumWith(p: Params): string {
    const c = this.read();
    return decimal(total(c) + (c.entries.some((e) => e.uuid === p.uuid) ? 0n : p.epsilon));
  }

  /** allows tells whether the cap has room for a report by these parameters. */
  allows(p: Params): boolean {
    return units(this.sumWith(p))! <= units(this.cap)!;
  }

  /**
   * make randomises a value, null for none, and keeps the report. Called again for the collection it returns what is there, and
   * looks at the value no more.
   */
  async make(p: Params, token: Token, value: number | null): Promise<Entry> {
    const print = await digest(token);
    return exclusively(() => {
      const c = this.read();
      const before = found(c, p, print);
      if (before !== undefined) return before;
      if (!this.allows(p)) throw new CapError(`the reports would cost epsilon = ${this.sumWith(p)} together, and the limit is ${c.cap}`);
      const made = new Date().toISOString().slice(0, 10);
      const { collection, uuid, fingerprint, epsilonText: epsilon } = p;
      const entry = { collection, uuid, fingerprint, epsilon, cell: token.cell, token: print, report: hex(report(p, token.cell, value)), made, accepted: false };
      this.write({ ...c, entries: [...c.entries, entry] });
      return entry;
    });
  }

  /** accepted notes that a report has arrived. */
  async accepted(uuid: string): Promise<void> {
    await exclusively(() => {
      const c = this.read();
      this.write({ ...c, entries: c.entries.map((e) => (e.uuid === uuid ? { ...e, accepted: true } : e)) });
    });
  }

  private read(): Contents {
    const text = this.store.getItem(KEY);
    if (text === null) return { version: 1, cap: FIRST_CAP, entries: [] };
    let c: Contents;
    try {
      c = JSON.parse(text) as Contents;
    } catch {
      throw new DamageError("the list of reports cannot be read");
    }
    const sound = c?.version === 1 && typeof c.cap === "string" && units(c.cap) !== undefined && Array.isArray(c.entries) &&
      c.entries.every((e) => parseEpsilon(e?.epsilon) !== undefined && /^([0-9a-f]{2}){17,}$/.test(e.report) && typeof e.uuid === "string");
    if (!sound) throw new DamageError("the list of reports is damaged");
    return c;
  }

  private write(c: Contents): void {
    const text = JSON.stringify(c);
    this.store.setItem(KEY, text);
    if (this.store.getItem(KEY) !== text) throw new DamageError("the list of reports cannot be kept here");
  }
}

/** bytesOf returns what is sent. */
export const bytesOf = (e: Entry): Uint8Array => Uint8Array.from(e.report.match(/../g)!, (b) => parseInt(b, 16));

function found(c: Contents, p: Params, token: string): Entry | undefined {
  const e = c.entries.find((e) => e.uuid === p.uuid);
  if (e !== undefined && (e.fingerprint !== p.fingerprint || e.token !== token)) {
    throw new TwiceError("this device has reported to the collection by other parameters or with another token; nobody reports twice");
  }
  return e;
}

function total(c: Contents): bigint {
  return c.entries.reduce((sum, e) => sum + parseEpsilon(e.epsilon)!, 0n);
}

/** units reads a decimal in ten-thousandths; undefined for anything else. */
function units(text: string): bigint | undefined {
  const m = /^(\d{1,4})(?:\.(\d{1,4}))?$/.exec(text);
  if (m === null) return undefined;
  const n = BigInt(m[1]! + (m[2] ?? "").padEnd(4, "0"));
  return n <= 1000n * UNIT ? n : undefined;
}

function decimal(n: bigint): string {
  return `${n / UNIT}.${String(n % UNIT).padStart(4, "0")}`.replace(/\.?0+$/, "");
}

async function digest(token: Token): Promise<string> {
  return hex(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token.secret))));
}

/** exclusively runs f while no other page of the site changes the wallet, where the browser can see to that. */
async function exclusively<T>(f: () => T): Promise<T> {
  const locks = (globalThis.navigator as Navigator | undefined)?.locks;
  return locks === undefined ? f() : ((await locks.request(KEY, async () => f())) as T);
}

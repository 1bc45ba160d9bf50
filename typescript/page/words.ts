// The sentences and numbers of the page, from verified parameters alone.

import { CapError, DamageError, type Entry, ParameterError, type Params, Refused, TwiceError } from "../src/index.js";

const ONE62 = 2 ** 62;

/** number writes a number with four significant digits at most. */
export const number = (x: number): string => (x !== 0 && (Math.abs(x) < 1e-4 || Math.abs(x) >= 1e7) ? x.toPrecision(3) : String(Number(x.toPrecision(4))));

/** percent writes a probability; what is nearly certain is not written as certain. */
export const percent = (x: number): string => (x > 0.999 ? (100 * x).toFixed(2) : x < 0.01 ? (100 * x).toFixed(2) : (100 * x).toFixed(1)) + " %";

const epsilonOf = (p: Params): number => Number(p.epsilon) / 10_000;

/** purpose says what comes of all reports. */
export function purpose(p: Params): string {
  const what = p.protocol === "LDP_BIT" ? "the mean of everybody’s answers" : "how everybody’s answers are spread";
  return `From many such reports ${what} can be estimated; no single report says for sure what was answered.`;
}

/** loss says what epsilon is, and how strong it is. */
export function loss(p: Params): string[] {
  const e = epsilonOf(p);
  const strength = e < 1 ? "strong protection" : e <= 2 ? "a common strength of protection" : e <= 4 ? "moderate protection" : "weak protection: think before you report";
  const odds = Math.exp(e);
  return [
    `This collection has ε (epsilon) = ${p.epsilonText}. That is ${strength}.`,
    `Whatever is sent, it is at most ${number(odds)} times as likely for your answer as for any other answer that you could have given. Somebody who thought ` +
      `two answers equally likely before is at most ${percent(odds / (1 + odds))} sure of one of them afterwards. This holds against everybody, now and later, the server included.`,
  ];
}

/** Odds is a table: what is sent, by what was answered. */
export interface Odds {
  sent: string;
  head: string[];
  rows: string[][];
}

/** odds says what a report of a cell looks like, where the choices of list are asked for, or a number. */
export function odds(p: Params, cell: number, list: readonly Choice[] | undefined): Odds {
  const c = p.cells[cell]!;
  const keep = Number(BigInt(c.keep_num)) / ONE62;
  const parts = named(p, cell, list) ? `${c.domain} answers` : `${c.domain} parts of ${number(p.lo)} to ${number(p.hi)}`;
  const mine = named(p, cell, list) ? "your answer" : "the part that your answer is in";
  switch (c.randomizer) {
    case "BITMEAN": {
      const ends = list ?? [p.lo, p.lo / 2 + p.hi / 2, p.hi].map((value) => ({ label: number(value), value }));
      return {
        sent: "One bit is sent, a 1 or a 0. Your device tosses coins for it; your answer only makes one of the two more likely.",
        head: ["Your answer", "A 1 is sent", "A 0 is sent"],
        rows: ends.map(({ label, value }) => {
          const f = (value - p.lo) / (p.hi - p.lo);
          const one = f * keep + (1 - f) * (1 - keep);
          return [label, percent(one), percent(1 - one)];
        }),
      };
    }
    case "KRR":
      return {
        sent: `One of ${parts} is sent: by coins, yours or another.`,
        head: ["What is sent", "How likely"], rows: [[mine, percent(keep)], ["each of the others", percent((1 - keep) / (c.domain - 1))]],
      };
    case "OUE":
      return {
        sent: `${c.domain} bits are sent, one for each of ${parts}. Your device tosses coins for each of them.`,
        head: ["Bit", "It is a 1"], rows: [["of " + mine, percent(0.5)], ["of each other", percent(keep)]],
      };
  }
}

/** none says what is reported for somebody who would rather not say. */
export function none(p: Params, list: readonly Choice[] | undefined): string {
  const leaves = 4 ** p.levels;
  const at = Math.min(Math.floor(((p.nullDefault - p.lo) / (p.hi - p.lo)) * leaves), leaves - 1);
  const like = p.protocol === "LDP_HIER" && list !== undefined ? `“${list[Math.max(at, 0)]?.label ?? "none of these"}”` : `an answer of ${number(p.nullDefault)}`;
  return `It is reported like ${like}, with the same coins: nobody can see who chose this.`;
}

/** kept reads a report back: what its bytes say. */
export function kept(p: Params, cell: number, report: Uint8Array, list: readonly Choice[] | undefined): string {
  const c = p.cells[cell]!;
  const payload = report.subarray(16);
  if (c.randomizer === "BITMEAN") return `The coins gave the bit ${payload[0]}.`;
  if (c.randomizer === "KRR") {
    const at = payload[0]! * 256 + payload[1]!;
    return `The coins gave number ${at + 1} of ${c.domain}: ${named(p, cell, list) ? (list![at]?.label ?? "none of these") : part(p, c.domain, at)}.`;
  }
  const ones = Array.from({ length: c.domain }, (_, v) => (payload[v >> 3]! >> (7 - (v & 7))) & 1).reduce((a, b) => a + b, 0);
  return `The coins gave ${c.domain} bits, of which ${ones} are 1.`;
}

/** named tells whether what a cell reports are the choices themselves, and not wider parts of the range. */
const named = (p: Params, cell: number, list: readonly Choice[] | undefined): boolean => list !== undefined && p.cells[cell]!.domain === 4 ** p.levels;

/** part names one of so many equal parts of the range. */
export function part(p: Params, parts: number, at: number): string {
  const edge = (i: number): string => number(p.lo + ((p.hi - p.lo) * i) / parts);
  return `${edge(at)} to ${edge(at + 1)}`;
}

/** Choice is an answer to be picked, and the value that it stands for. */
export interface Choice {
  label: string;
  value: number;
}

/**
 * choices lists what can be picked; undefined where a number is asked for. Labels of the link stand for the two ends of a mean,
 * and for the buckets of a histogram from the lowest on.
 */
export function choices(p: Params, labels: readonly string[]): Choice[] | undefined {
  if (p.protocol === "LDP_BIT") {
    const ends = labels.length === 2 ? labels : p.lo === 0 && p.hi === 1 && labels.length === 0 ? ["No", "Yes"] : undefined;
    return ends?.map((label, i) => ({ label, value: i === 0 ? p.lo : p.hi }));
  }
  const leaves = 4 ** p.levels;
  const middle = (i: number): number => p.lo + ((p.hi - p.lo) * (i + 0.5)) / leaves;
  if (labels.length > 0 && labels.length <= leaves) return labels.map((label, i) => ({ label, value: middle(i) }));
  if (leaves > 16) return undefined;
  return Array.from({ length: leaves }, (_, i) => ({ label: part(p, leaves, i), value: middle(i) }));
}

/** Trouble is an error in words. Where again is set, the same may be tried again. */
export interface Trouble {
  text: string;
  again: boolean;
}

const REFUSALS: Record<string, string> = {
  UNKNOWN_TOKEN: "This link was not issued for this collection, or a part of it got lost. Open it again from where you got it.",
  SPENT_TOKEN: "This link has brought another report already, from another browser or device. Nothing more can be sent with it.",
  CLOSED_TOKEN: "Reports are not taken with this link now: the round that it is for has not begun, or it is over.",
  COLLECTION_STATE: "There is no such collection here, or it takes no reports any more. Nothing more is to be done.",
  MALFORMED_REPORT: "The server finds that the report was not made by its rules, and has not taken it. Tell whoever gave you the link.",
};

/** trouble says what an error means. */
export function trouble(e: unknown, online: boolean): Trouble {
  if (e instanceof Refused) {
    if (e.temporary) return { text: "The server has no room just now. What was made is kept in this browser; try again in a while.", again: true };
    return { text: REFUSALS[e.code] ?? `The server has answered with an error (${e.status}). Tell whoever gave you the link.`, again: false };
  }
  if (e instanceof TwiceError) {
    return { text: "This browser has reported to the collection before, with another link. Nobody reports twice, so nothing was made.", again: false };
  }
  if (e instanceof ParameterError) {
    return { text: `Nothing was sent, because something is wrong with the collection: ${e.message}. Tell whoever gave you the link.`, again: false };
  }
  if (e instanceof CapError) return { text: `Nothing was made: ${e.message}. The limit is yours, and is set below.`, again: false };
  if (e instanceof DamageError) {
    return { text: `Nothing was made, because ${e.message}. Without the list nobody could know whether you have reported before.`, again: false };
  }
  if (e instanceof TypeError) {
    return { text: online ? "The server cannot be reached. Try again in a while." : "You are offline. Try again when there is a connection.", again: true };
  }
  return { text: "This browser cannot keep a list of what was sent, or lacks something that the page needs. Try another one, and no private window.", again: false };
}

/** summary says what reports have cost. */
export function summary(entries: readonly Entry[], spent: string, cap: string): string {
  const n = entries.length === 0 ? "No report has been made in this browser" : entries.length === 1 ? "One report was made in this browser" : `${entries.length} reports were made in this browser`;
  return `${n}, costing ε = ${spent} together, of at most ${cap}.`;
}

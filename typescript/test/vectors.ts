import { readFileSync } from "node:fs";

/** Vector is a report with all that it follows from. */
export interface Vector {
  params: string;
  fingerprint: string;
  cell: number;
  value: number | null;
  words: string;
  report: string;
}

/** DIRECTORY holds the vectors of both languages; this file runs in dist/test. */
export const DIRECTORY = new URL("../../../testdata/contribute/", import.meta.url);

export const vectorsOfGo = (): Vector[] => JSON.parse(readFileSync(new URL("go.json", DIRECTORY), "utf8")) as Vector[];

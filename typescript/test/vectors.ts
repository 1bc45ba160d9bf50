import { readFileSync } from "node:fs";

import { type Vector } from "./vector.js";

export { type Vector } from "./vector.js";

/** DIRECTORY holds the vectors of both languages; this file runs in dist/test. */
export const DIRECTORY = new URL("../../../testdata/contribute/", import.meta.url);

export const vectorsOfGo = (): Vector[] => JSON.parse(readFileSync(new URL("go.json", DIRECTORY), "utf8")) as Vector[];

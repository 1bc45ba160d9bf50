// Tokens as they are given out: a row, or a link whose fragment has all of it.

/** Token is one person's right to report once. */
export interface Token {
  secret: string;
  round: number;
  cell: number;
  stratum: string;
}

const SECRET = /^[0-9a-fA-F]{32}$/;

/** parseToken reads a row of dp_issue_tokens: secret, round, cell and perhaps a stratum. */
export function parseToken(text: string): Token {
  const m = /^\s*([0-9a-fA-F]{32})(?:[\t, ]+(\d{1,3})[\t, ]+(\d{1,9})(?:[\t,]\s*|\s+)?(.*?))?\s*$/.exec(text);
  if (m === null) throw new TypeError("a token is a row such as 9f86d081884c7d659a2feaa0c55ad015 1 0");
  const stratum = (m[4] ?? "").replace(/^"(.*)"$/, "$1");
  return { secret: m[1]!.toLowerCase(), round: Number(m[2] ?? 1), cell: Number(m[3] ?? 0), stratum: stratum === "NULL" ? "" : stratum };
}

/** Link is what the fragment of a link of dp_issue_links says. Question and choices are words of whoever issued it. */
export interface Link {
  collection: string;
  token: Token;
  question: string;
  choices: string[];
}

/** parseLink reads the fragment of a link, with its # or without; undefined where it is none. */
export function parseLink(fragment: string): Link | undefined {
  const q = new URLSearchParams(fragment.replace(/^#/, ""));
  const [collection, secret, round, cell] = [q.get("c") ?? "", q.get("t") ?? "", q.get("r") ?? "1", q.get("n") ?? "0"];
  if (collection === "" || collection.length > 130 || !SECRET.test(secret) || !/^\d{1,3}$/.test(round) || !/^\d{1,9}$/.test(cell)) return undefined;
  const token = { secret: secret.toLowerCase(), round: Number(round), cell: Number(cell), stratum: q.get("s") ?? "" };
  return { collection, token, question: (q.get("q") ?? "").slice(0, 300), choices: q.getAll("a").slice(0, 64).map((a) => a.slice(0, 100)) };
}

// Fetching parameters and sending a report over HTTPS: docs/collections/http.md.

import { ParameterError, type Params, verify } from "./params.js";
import { type Token } from "./token.js";
import { bytesOf, type Store, Wallet } from "./wallet.js";

/** Refused is a server's answer to a report that it did not take. */
export class Refused extends Error {
  constructor(readonly status: number, readonly code: string, message: string) {
    super(message);
  }

  /** temporary tells whether the same bytes may be taken later. */
  get temporary(): boolean {
    return this.status === 429 || this.status === 503;
  }
}

/** fetchParams asks a server for the parameters of a token's round, and verifies them. */
export async function fetchParams(server: string, collection: string, token: Token, fingerprint?: string): Promise<Params> {
  const url = address(server, collection, "round");
  url.searchParams.set("round", String(token.round));
  if (token.stratum !== "") url.searchParams.set("stratum", token.stratum);
  const p = await verify(await ask(url, {}), fingerprint);
  const short = p.collection.split(".").pop()!;
  if (![p.collection, short].some((n) => n.toLowerCase() === collection.toLowerCase()) || p.stratum !== token.stratum || token.round !== 1) {
    throw new ParameterError("the server answered with the parameters of something else");
  }
  return p;
}

/** send sends the bytes of a report. The same bytes may be sent again: they are taken once. */
export async function send(server: string, collection: string, token: Token, bytes: Uint8Array): Promise<void> {
  await ask(address(server, collection, "reports"), {
    method: "POST", headers: { "Content-Type": "application/json" }, body: body(token, bytes),
  });
}

/** body is what is sent: of one length for all reports of a cell. */
export function body(token: Token, bytes: Uint8Array): string {
  return JSON.stringify({ token: token.secret, report: btoa(String.fromCharCode(...bytes)) });
}

// ATTEMPTS and FIRST_PAUSE are how often a request is sent where it may get through later, and how long, in milliseconds, is
// waited before the second; the pause doubles.
const ATTEMPTS = 7;
const FIRST_PAUSE = 500;

/**
 * ask sends one request, and the same again where the connection fails or the server has no room for it now: a report is taken
 * once, and parameters are only read. The last failure is thrown as it is.
 */
async function ask(url: URL, request: RequestInit): Promise<Uint8Array> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await once(url, request);
    } catch (e) {
      if (!passing(e) || attempt === ATTEMPTS) throw e;
    }
    await new Promise((resume) => setTimeout(resume, FIRST_PAUSE * 2 ** (attempt - 1)));
  }
}

/** once sends a request once, and returns the bytes of the answer. */
async function once(url: URL, request: RequestInit): Promise<Uint8Array> {
  const answer = await fetch(url, { ...request, credentials: "omit", cache: "no-store", redirect: "error", referrerPolicy: "no-referrer" });
  if (!answer.ok) throw await refusal(answer);
  return new Uint8Array(await answer.arrayBuffer());
}

/**
 * passing tells whether a failure may be over soon. fetch throws a TypeError where the connection fails; a browser that knows
 * that it is offline says so, and then there is nothing to wait for.
 */
function passing(failure: unknown): boolean {
  if (failure instanceof Refused) return failure.temporary;
  const offline = typeof navigator !== "undefined" && navigator.onLine === false;
  return failure instanceof TypeError && !offline;
}

/**
 * contribute does all of it for one person: verifies, charges the wallet in the store, randomises once, keeps the report before it
 * is sent, and sends. Called again, also after a crash, it sends the same bytes and looks at the value no more. It refuses another
 * token or other parameters for a collection that it has reported to, and costs beyond the wallet's cap.
 */
export async function contribute(store: Store, server: string, collection: string, token: Token, value: number | null): Promise<Params> {
  const p = await fetchParams(server, collection, token);
  const wallet = new Wallet(store);
  const entry = await wallet.make(p, token, value);
  await send(server, collection, token, bytesOf(entry));
  await wallet.accepted(p.uuid);
  return p;
}

function address(server: string, collection: string, what: string): URL {
  const url = new URL("/v1/collections/" + encodeURIComponent(collection) + "/" + what, server);
  const loopback = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  if (url.protocol !== "https:" && !loopback) throw new TypeError("tokens go over https only");
  return url;
}

async function refusal(answer: Response): Promise<Refused> {
  const text = (await answer.text()).slice(0, 2000);
  try {
    const { error, message } = JSON.parse(text) as { error?: unknown; message?: unknown };
    return new Refused(answer.status, String(error), String(message));
  } catch {
    return new Refused(answer.status, "", "the server answered with status " + answer.status);
  }
}

import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";

import { fetchParams, Refused, send, type Token } from "../src/index.js";
import { vectorsOfGo } from "./vectors.js";

const token: Token = { secret: "9f86d081884c7d659a2feaa0c55ad015", round: 1, cell: 0, stratum: "" };
const report = Uint8Array.of(1, 2, 3);

type Handler = (body: string, response: ServerResponse, request: IncomingMessage) => void;

/** serve answers each request by the next handler, by the last one when there are no more, and returns the address and what came. */
async function serve(t: TestContext, ...handlers: Handler[]): Promise<{ address: string; came: string[] }> {
  const came: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (part: Buffer) => (body += part.toString()));
    request.on("end", () => {
      came.push(body);
      handlers[Math.min(came.length, handlers.length) - 1]!(body, response, request);
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, came };
}

const cut: Handler = (_body, _response, request) => void request.socket.destroy();
const cutLater: Handler = (_body, response) => {
  response.writeHead(200, { "Content-Length": "1000" }).write("{");
  setTimeout(() => response.socket!.destroy(), 20);
};
const refuse = (status: number, code: string): Handler => (_body, response) =>
  void response.writeHead(status).end(JSON.stringify({ error: code, message: "no" }));
const accept: Handler = (_body, response) => void response.writeHead(200).end('{"accepted":true}');

test("a report whose connection is lost, before the answer or in it, is sent again as it was", async (t) => {
  const { address, came } = await serve(t, cut, cutLater, accept);
  await send(address, "commute", token, report);
  assert.equal(came.length, 3);
  assert.deepEqual([...new Set(came)], [JSON.stringify({ token: token.secret, report: "AQID" })]);
});

test("parameters are asked for again where the connection is lost or the server busy", async (t) => {
  const v = vectorsOfGo().find((v) => v.params.includes('"LDP_BIT"') && v.cell === 0)!;
  const { address, came } = await serve(t, cut, refuse(429, "TOO_MANY_REQUESTS"), (_body, response) => void response.writeHead(200).end(v.params));
  const { collection, round, stratum } = JSON.parse(v.params) as { collection: string; round: number; stratum?: string };
  const p = await fetchParams(address, collection, { ...token, round, stratum: stratum ?? "" }, v.fingerprint);
  assert.equal(p.fingerprint, v.fingerprint);
  assert.equal(came.length, 3);
});

/** failing replaces fetch by one that fails as the list says, and the waiting by one that takes no time. It returns the pauses. */
function failing(t: TestContext, failures: Error[]): number[] {
  const pauses: number[] = [];
  let at = 0;
  t.mock.method(globalThis, "fetch", () => Promise.reject(failures[at++]));
  t.mock.method(globalThis, "setTimeout", (resume: () => void, pause: number) => void (pauses.push(pause), resume()));
  return pauses;
}

test("after the seventh failure the last is thrown as it is", async (t) => {
  const failures = Array.from({ length: 8 }, (_, i) => new TypeError("fetch failed " + i));
  const pauses = failing(t, failures);
  await assert.rejects(send("http://127.0.0.1", "commute", token, report), (e) => e === failures[6]);
  assert.deepEqual(pauses, [500, 1000, 2000, 4000, 8000, 16000]);
});

test("what will not be better later is not tried again", async (t) => {
  const { address, came } = await serve(t, refuse(409, "SPENT_TOKEN"));
  await assert.rejects(send(address, "commute", token, report), (e) => e instanceof Refused && e.code === "SPENT_TOKEN");
  assert.equal(came.length, 1);
  const pauses = failing(t, [new RangeError("no network")]);
  await assert.rejects(send(address, "commute", token, report), RangeError);
  await assert.rejects(send("http://survey.example.org", "commute", token, report), /https only/);
  assert.deepEqual(pauses, []);
});

test("a browser that knows to be offline does not wait", async (t) => {
  const pauses = failing(t, [new TypeError("Failed to fetch")]);
  Object.defineProperty(globalThis, "navigator", { value: { onLine: false }, configurable: true });
  t.after(() => Reflect.deleteProperty(globalThis, "navigator"));
  await assert.rejects(send("http://127.0.0.1", "commute", token, report), /Failed to fetch/);
  assert.deepEqual(pauses, []);
});

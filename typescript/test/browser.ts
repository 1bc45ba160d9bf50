// Runs in_browser.ts in Chromium against a running server: node browser.js SERVER COLLECTION TOKENS VALUE SPKI PORT. SPKI is the
// SHA-256 of the one key that the browser trusts for HTTPS, in base64; the page itself is served in clear on loopback, at PORT,
// which the server allows as an origin.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { vectorsOfGo } from "./vectors.js";

const [server, collection, file, value, spki, port] = process.argv.slice(2) as [string, string, string, string, string, string];
const tokens = readFileSync(file, "utf8").trim().split("\n");
const script = readFileSync(new URL("../in_browser.js", import.meta.url));
const task = JSON.stringify({ vectors: vectorsOfGo(), server, collection, tokens, value: Number(value) });

const profile = mkdtempSync(join(tmpdir(), "scrim-chromium-"));
const web = createServer((request, response) => {
  const send = (media: string, text: string | Buffer): void => void response.writeHead(200, { "Content-Type": media }).end(text);
  switch (request.url) {
    case "/":
      return send("text/html", "<!DOCTYPE html><title>test</title><script src=in_browser.js defer></script>");
    case "/in_browser.js":
      return send("text/javascript", script);
    case "/task":
      return send("application/json", task);
    case "/result": {
      let text = "";
      request.on("data", (part: Buffer) => (text += part.toString()));
      request.on("end", () => {
        send("text/plain", "");
        end(JSON.parse(text) as { ok: boolean; text: string });
      });
      return;
    }
    default:
      response.writeHead(404).end();
  }
}).listen(Number(port), "127.0.0.1");

const chromium = spawn(process.env["CHROMIUM"] ?? "chromium", [
  "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync", "--disable-component-update",
  "--user-data-dir=" + profile, "--ignore-certificate-errors-spki-list=" + spki, `http://127.0.0.1:${port}/`,
], { stdio: "ignore", detached: true });
const late = setTimeout(() => end({ ok: false, text: "the browser has not answered within 60 s" }), 60_000);

function end(result: { ok: boolean; text: string }): void {
  clearTimeout(late);
  chromium.on("exit", () => {
    web.closeAllConnections();
    web.close();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    assert.ok(result.ok, result.text);
    console.log("Chromium:", result.text);
  });
  process.kill(-chromium.pid!, "SIGTERM");
}

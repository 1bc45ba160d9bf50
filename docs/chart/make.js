#!/usr/bin/env node
// Draws docs/chart.png: starts `scrim demo`, Cube over docs/chart/schema, and headless Chromium on
// docs/chart/index.html, all on free ports of loopback, and ends them.
//
//   NODE_PATH=…/node_modules node docs/chart/make.js [picture.png]
//
// The server is SCRIM_BINARY, or bin/scrim (make build). The packages are those that docs/chart.md installs.
'use strict';
const { spawn } = require('child_process');
const fs = require('fs');
const http = require('http');
const os = require('os');
const path = require('path');

const here = __dirname;
const root = path.resolve(here, '../..');
const modules = path.resolve((process.env.NODE_PATH || 'node_modules').split(path.delimiter)[0]);
const clients = path.join(root, 'test/clients/testdata');
const { start } = require(path.join(clients, 'cube/start.js'));
const { chrome } = require(path.join(clients, 'lib/browser.js'));
const picture = path.resolve(process.argv[2] || path.join(root, 'docs/chart.png'));

// demo starts the demonstration and returns how its analyst logs in.
function demo(folder) {
  const binary = process.env.SCRIM_BINARY || path.join(root, 'bin/scrim');
  const child = spawn(binary, ['demo', '--listen', '127.0.0.1:0', '--data', path.join(folder, 'data')]);
  const ended = new Promise((done) => child.on('exit', done));
  return new Promise((ready, failed) => {
    let out = '';
    child.on('error', failed);
    child.stderr.pipe(process.stderr);
    child.stdout.on('data', (chunk) => {
      out += chunk;
      const m = /-h (\S+) -P (\d+) -u ann -p(\S+) demo/.exec(out);
      if (m) {
        ready({
          options: { host: m[1], port: Number(m[2]), user: 'ann', password: m[3], database: 'demo' },
          stop: () => child.kill() && ended,
        });
      }
    });
    ended.then(() => failed(new Error('the demonstration did not start')));
  });
}

const types = { '.html': 'text/html', '.js': 'text/javascript' };

// pages serves this folder, and the packages under node_modules.
function pages(cube) {
  const server = http.createServer((request, answer) => {
    const name = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
    const file = name.startsWith('/node_modules/')
      ? path.join(modules, path.normalize(name.slice('/node_modules'.length)))
      : path.join(here, path.basename(name) || 'index.html');
    fs.readFile(file, 'utf8', (err, text) => {
      const known = `window.cube = ${JSON.stringify({ api: cube.api, token: cube.token })};\n`;
      answer.writeHead(err ? 404 : 200, { 'Content-Type': `${types[path.extname(file)] || 'text/plain'}; charset=utf-8` });
      answer.end(err ? '' : (path.basename(file) === 'dashboard.js' ? known : '') + text);
    });
  });
  return new Promise((ready) => server.listen(0, '127.0.0.1', () => ready(server)));
}

async function main() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'scrim-chart-'));
  const { options, stop } = await demo(folder);
  try {
    fs.cpSync(path.join(here, 'schema'), path.join(folder, 'schema'), { recursive: true });
    const cube = await start(folder, options, modules);
    const server = await pages(cube);
    const { page, close } = await chrome();
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    await page.waitForFunction(() => document.body.dataset.state, null, { timeout: 60000 });
    const state = await page.evaluate(() => document.body.dataset.state);
    if (state !== 'drawn') throw new Error(`the page ${state}\n${cube.log().slice(-2000)}`);
    await page.screenshot({ path: picture, fullPage: true, clip: await box(page) });
    await close();
    cube.stop();
  } finally {
    await stop();
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

// box is what of the page holds something.
const box = (page) =>
  page.evaluate(() => {
    const parts = [...document.querySelectorAll('h1, p, svg')].map((e) => e.getBoundingClientRect());
    const margin = 24;
    return { x: 0, y: 0, width: Math.max(...parts.map((r) => r.right)) + margin,
      height: Math.max(...parts.map((r) => r.bottom)) + margin };
  });

main().then(
  () => process.exit(0),
  (e) => {
    console.error(e.message || e);
    process.exit(1);
  },
);

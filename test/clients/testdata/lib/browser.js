// What the clients in a browser share: PHP's own server on a free port, and Debian's Chromium.
'use strict';
const { spawn } = require('child_process');
const fs = require('fs');
const net = require('net');
const path = require('path');
const { chromium } = require('playwright-core');

const freePort = () =>
  new Promise((done) => {
    const probe = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => done(port));
    });
  });
exports.freePort = freePort;

// answers waits until something listens on a port of loopback.
const answers = async (port) => {
  for (let i = 0; i < 200; i++) {
    const up = await new Promise((done) => {
      const c = net.connect(port, '127.0.0.1', () => done(true) || c.destroy());
      c.on('error', () => done(false));
    });
    if (up) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(`nothing listens on port ${port}`);
};
exports.answers = answers;

// php serves a folder by PHP's own server and returns its address. It ends with the process.
exports.php = async (root, ...settings) => {
  const port = await freePort();
  const log = fs.openSync('php.log', 'a');
  const child = spawn('php', [...settings, '-S', `127.0.0.1:${port}`, '-t', root],
    { stdio: ['ignore', log, log], env: { ...process.env, PHP_CLI_SERVER_WORKERS: '4' } });
  process.on('exit', () => child.kill());
  await answers(port);
  return `http://127.0.0.1:${port}`;
};

// chrome opens a page in Chromium, which asks nothing beyond loopback.
exports.chrome = async () => {
  const browser = await chromium.launch({
    executablePath: process.env.SCRIM_CHROMIUM || '/usr/bin/chromium',
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
      '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.setDefaultTimeout(40000);
  return {
    page,
    version: browser.version(),
    shot: (name) => page.screenshot({ path: path.join(process.env.SCRIM_OUT, `${name}.png`) }),
    close: () => browser.close(),
  };
};

// cells returns the texts of a table's rows.
exports.cells = (table) =>
  table.evaluate((t) =>
    [...t.querySelectorAll('tbody tr')].map((row) =>
      [...row.querySelectorAll('th, td')].map((cell) => cell.innerText.trim())));

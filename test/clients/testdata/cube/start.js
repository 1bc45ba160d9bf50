// Starts Cube's API server over a folder of cubes in a process of its own, and asks it by REST.
'use strict';
const { spawn } = require('child_process');
const fs = require('fs');
const net = require('net');
const path = require('path');

// The server's program. It keeps cache and queue in memory: no other service is needed, nor the internet.
const program = `
  const { CubejsServer } = require('@cubejs-backend/server');
  new CubejsServer({ schemaPath: 'schema', telemetry: false, scheduledRefreshTimer: false })
    .listen({ port: process.env.PORT }).catch((e) => { console.error(e); process.exit(1); });`;

const freePort = () =>
  new Promise((done) => {
    const probe = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => done(port));
    });
  });

// start serves folder/schema over the MySQL server that options name. modules is where npm's packages are.
exports.start = async (folder, options, modules) => {
  const port = await freePort();
  const log = path.join(folder, 'cube.log');
  const out = fs.openSync(log, 'a');
  const secret = 'a secret of this run';
  const child = spawn(process.execPath, ['-e', program], {
    cwd: folder,
    stdio: ['ignore', out, out],
    env: {
      PATH: process.env.PATH, HOME: folder, TZ: 'UTC', NODE_PATH: modules, NODE_ENV: 'production', PORT: String(port),
      CUBEJS_DB_TYPE: 'mysql', CUBEJS_DB_HOST: options.host, CUBEJS_DB_PORT: String(options.port),
      CUBEJS_DB_USER: options.user, CUBEJS_DB_PASS: options.password, CUBEJS_DB_NAME: options.database,
      CUBEJS_API_SECRET: secret, CUBEJS_CACHE_AND_QUEUE_DRIVER: 'memory', CUBEJS_TELEMETRY: 'false',
      CUBEJS_EXTERNAL_DEFAULT: 'false', CUBEJS_SCHEDULED_REFRESH_DEFAULT: 'false', CUBEJS_LOG_LEVEL: 'trace',
    },
  });
  process.on('exit', () => child.kill());
  const token = require(path.join(modules, 'jsonwebtoken')).sign({}, secret);
  const api = `http://127.0.0.1:${port}/cubejs-api/v1`;
  const get = async (url) => {
    const r = await fetch(url, { headers: { Authorization: token } });
    return r.json();
  };
  for (let i = 0; ; i++) {
    const meta = await get(`${api}/meta`).catch(() => ({}));
    if (meta.cubes) break;
    if (meta.error || child.exitCode !== null || i === 300) {
      throw new Error(`Cube did not start: ${meta.error || fs.readFileSync(log, 'utf8').slice(-2000)}`);
    }
    await new Promise((done) => setTimeout(done, 100));
  }

  return {
    api,
    token,
    log: () => fs.readFileSync(log, 'utf8'),
    stop: () => child.kill(),
    get: (route) => get(`${api}/${route}`),
    // load asks one query and returns its answer, waiting where Cube says that it still works on it.
    load: async (query) => {
      for (let i = 0; i < 60; i++) {
        const answer = await get(`${api}/load?query=${encodeURIComponent(JSON.stringify(query))}`);
        if (answer.error !== 'Continue wait') {
          if (answer.error) throw new Error(answer.error);
          return answer;
        }
      }
      throw new Error('Cube did not answer');
    },
  };
};

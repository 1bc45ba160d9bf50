'use strict';
const fs = require('fs');
const mariadb = require('mariadb');
const s = require(`${process.env.SCRIM_LIB}/scrim.js`);

const arrays = (sql) => ({ sql, rowsAsArray: true });

async function main() {
  const c = await mariadb.createConnection(s.options);
  await s.check('connect', async () => (await c.query('SELECT VERSION() AS v'))[0].v);
  await s.check('list', async () => (await c.query(arrays('SHOW TABLES'))).map((r) => r[0]));
  await s.check('describe', async () =>
    (await c.query('DESCRIBE people')).map((r) => [r.Field, r.Type]));
  await s.check('group', async () => c.query(arrays(s.groupSQL)));
  await s.check('public', async () => c.query(arrays(s.publicSQL)));
  await s.check('prepared', async () => c.execute(arrays(s.preparedSQL), [3]));
  await s.check('text', async () =>
    (await c.execute('SELECT title FROM products WHERE title = ?', [s.title]))[0].title);
  await s.check('error', () => s.refusal(() => c.query(s.rawSQL)));
  await s.check('extra:server version', async () =>
    s.expect(!c.info.isMariaDB() && c.info.hasMinVersion(8, 0, 0), c.serverVersion()));
  await s.check('extra:prepared GROUP BY', async () => {
    const rows = await c.execute(s.groupSQL.replace('GROUP', 'WHERE age < ? GROUP'), [60]);
    return s.expect(rows.length === 4 && rows.every((r) => r.n > 0), rows);
  });
  await s.check('extra:pipelined', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) => c.query('SELECT id FROM products WHERE id = ?', [i + 1])));
    return s.expect(answers.every(([r], i) => r.id === i + 1), answers);
  });
  await s.check('extra:stream', async () => {
    let n = 0;
    for await (const row of c.queryStream('SELECT id FROM products')) n += row.id > 0 ? 1 : 0;
    return s.expect(n === 1000, n);
  });
  await s.check('extra:ping', async () => {
    await c.ping();
    return true;
  });
  await s.check('extra:reset', async () => {
    await c.query('SET @x = 7');
    await c.reset();
    const [r] = await c.query('SELECT @x AS x');
    return s.expect(r.x === null, r);
  });
  await c.end();
  await s.check('extra:TLS, checked', secured);
  await s.check('extra:pool', pooled);
  const root = await mariadb.createConnection(s.dba);
  await s.logins((q) => root.query(q), whoami, ['caching_sha2_password', 'mysql_native_password'],
    { ca: fs.readFileSync(process.env.SCRIM_CA) });
  await root.end();
}

async function whoami(options) {
  const c = await mariadb.createConnection({ ...options, allowPublicKeyRetrieval: true });
  const [r] = await c.query('SELECT CURRENT_USER() AS u');
  await c.end();
  return r.u;
}

async function secured() {
  const ssl = { ca: fs.readFileSync(process.env.SCRIM_CA) };
  const c = await mariadb.createConnection({ ...s.options, ssl });
  const rows = await c.execute(s.preparedSQL, [3]);
  await c.end();
  return s.expect(rows.length === 3, rows);
}

async function pooled() {
  const pool = mariadb.createPool({ ...s.options, connectionLimit: 4, resetAfterUse: true });
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) => pool.query('SELECT id FROM products WHERE id = ?', [i + 1])));
  await pool.end();
  return s.expect(answers.every(([r], i) => r.id === i + 1), answers);
}

s.main(main);

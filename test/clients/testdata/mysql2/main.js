'use strict';
const fs = require('fs');
const { Readable } = require('stream');
const callbacks = require('mysql2');
const mysql = require('mysql2/promise');
const s = require(`${process.env.SCRIM_LIB}/scrim.js`);

const arrays = (sql) => ({ sql, rowsAsArray: true });

async function main() {
  const c = await mysql.createConnection(s.options);
  await s.check('connect', async () => (await c.query('SELECT VERSION() AS v'))[0][0].v);
  await s.check('list', async () => (await c.query(arrays('SHOW TABLES')))[0].map((r) => r[0]));
  await s.check('describe', async () =>
    (await c.query('DESCRIBE people'))[0].map((r) => [r.Field, r.Type]));
  await s.check('group', async () => (await c.query(arrays(s.groupSQL)))[0]);
  await s.check('public', async () => (await c.query(arrays(s.publicSQL)))[0]);
  await s.check('prepared', async () => (await c.execute(arrays(s.preparedSQL), [3]))[0]);
  await s.check('text', async () =>
    (await c.execute('SELECT title FROM products WHERE title = ?', [s.title]))[0][0].title);
  await s.check('error', () => s.refusal(() => c.query(s.rawSQL)));
  await s.check('extra:types of an answer', () => typesOfAnAnswer(c));
  await s.check('extra:prepared GROUP BY', async () => {
    const [rows] = await c.execute(`${s.groupSQL.replace('GROUP', 'WHERE age < ? GROUP')}`, [60]);
    return s.expect(rows.length === 4 && rows.every((r) => r.n > 0), rows);
  });
  await s.check('extra:a date as text', async () => {
    const [[r]] = await c.query({ sql: 'SELECT made FROM products WHERE id = 1', dateStrings: true });
    return s.expect(r.made === '2025-01-01 00:30:00', r);
  });
  await s.check('extra:changeUser', () => changeUser(c));
  await s.check('extra:a wrong password in changeUser', () => wrongUser());
  await s.check('extra:reset', async () => {
    await c.query('SET @x = 7');
    await c.reset();
    const [[r]] = await c.query('SELECT @x AS x, DATABASE() AS d');
    return s.expect(r.x === null && r.d === s.options.database, r);
  });
  await s.check('extra:ping', async () => s.expect(await c.ping() !== false, 'no answer'));
  await s.check('extra:statement closed', async () => {
    const p = await c.prepare('SELECT ? + 1 AS x');
    const [[r]] = await p.execute([41]);
    await p.close();
    return s.expect(Number(r.x) === 42, r);
  });
  await c.end();
  await s.check('extra:TLS, checked', secured);
  await s.check('extra:pool', pooled);
  await s.check('extra:stream', streamed);
  await s.check('extra:callbacks', () => called());
  await asRoot(async (root) => {
    await s.logins((q) => root.query(q), whoami, ['caching_sha2_password', 'mysql_native_password'],
      { ca: fs.readFileSync(process.env.SCRIM_CA) });
    await s.check('extra:LOAD DATA LOCAL as the DBA', () => loaded(root));
  });
  await s.check('extra:LOAD DATA LOCAL is refused to an analyst', () => refused());
}

const asRoot = async (f) => {
  const root = await mysql.createConnection(s.dba);
  await f(root);
  await root.end();
};

async function whoami(options) {
  const c = await mysql.createConnection(options);
  const [[r]] = await c.query('SELECT CURRENT_USER() AS u');
  await c.end();
  return r.u;
}

// load sends lines as the file of a LOAD DATA LOCAL.
const load = (c, text) =>
  c.query({
    sql: "LOAD DATA LOCAL INFILE 'a file' INTO TABLE loaded FIELDS TERMINATED BY ','",
    infileStreamFactory: () => Readable.from([Buffer.from(text)]),
  });

async function loaded(root) {
  await root.query('CREATE TABLE loaded (id INT, title VARCHAR(60))');
  await root.query(`CALL dp_public('${s.options.database}.loaded')`);
  const [done] = await load(root, `1,${s.title}\n2,b\n`);
  const [rows] = await root.query('SELECT * FROM loaded ORDER BY id');
  await root.query('DROP TABLE loaded');
  return s.expect(done.affectedRows === 2 && rows.length === 2 && rows[0].title === s.title, [done, rows]);
}

async function refused() {
  const c = await mysql.createConnection(s.options);
  const message = await s.refusal(() => load(c, '1,a\n'));
  await c.end();
  return s.expect(/DBAs and importers/.test(message), message);
}

async function typesOfAnAnswer(c) {
  const [, fields] = await c.query(s.groupSQL);
  const names = fields.map((f) => callbacks.Types[f.columnType]);
  return s.expect(names[0] === 'VAR_STRING' && names[2] === 'LONGLONG', names);
}

async function changeUser(c) {
  await c.changeUser({ user: s.dba.user, password: s.dba.password, database: s.dba.database });
  const [[r]] = await c.query('SELECT CURRENT_USER() AS u, DATABASE() AS d');
  await c.changeUser({ user: s.options.user, password: s.options.password, database: s.options.database });
  const [[back]] = await c.query('SELECT CURRENT_USER() AS u');
  return s.expect(
    r.u.startsWith('root@') && r.d === s.options.database && back.u.startsWith('ann@'), [r, back]);
}

async function wrongUser() {
  const c = await mysql.createConnection(s.options);
  c.connection.on('error', () => {});
  try {
    await c.changeUser({ user: s.dba.user, password: 'wrong' });
  } catch (e) {
    return s.expect(e.errno === 1045 && /Access denied for user/.test(e.message), e.message);
  } finally {
    c.destroy();
  }
  return 'it was let in';
}

async function secured() {
  const ssl = { ca: fs.readFileSync(process.env.SCRIM_CA) };
  const c = await mysql.createConnection({ ...s.options, ssl });
  const [[r]] = await c.query("SHOW STATUS LIKE 'Ssl_cipher'");
  const [rows] = await c.execute(arrays(s.preparedSQL), [3]);
  await c.end();
  return s.expect(rows.length === 3, r);
}

async function pooled() {
  const pool = mysql.createPool({ ...s.options, connectionLimit: 4 });
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, i) => pool.execute('SELECT id FROM products WHERE id = ?', [i + 1])));
  await pool.end();
  return s.expect(answers.every(([[r]], i) => r.id === i + 1), answers.map(([[r]]) => r.id));
}

async function streamed() {
  const c = callbacks.createConnection(s.options);
  let n = 0;
  for await (const row of c.query('SELECT id, title FROM products').stream()) {
    n += row.id > 0 ? 1 : 0;
  }
  await new Promise((done) => c.end(done));
  return s.expect(n === 1000, n);
}

const called = () =>
  new Promise((done, failed) => {
    const c = callbacks.createConnection({ ...s.options, multipleStatements: true });
    c.query('SELECT 1 AS a; SELECT COUNT(*) AS n FROM products', (err, rows) => {
      if (err) {
        failed(err);
        return;
      }
      c.end(() => done(s.expect(rows[0][0].a === 1 && rows[1][0].n === 1000, rows)));
    });
  });

s.main(main);

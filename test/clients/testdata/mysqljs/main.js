'use strict';
const fs = require('fs');
const mysql = require('mysql');
const { promisify } = require('util');
const s = require(`${process.env.SCRIM_LIB}/scrim.js`);

const columns = (rows) => rows.map((r) => Object.values(r));

async function main() {
  const c = mysql.createConnection(s.options);
  const query = promisify(c.query).bind(c);
  await s.check('connect', async () => (await query('SELECT VERSION() AS v'))[0].v);
  await s.check('list', async () => columns(await query('SHOW TABLES')).map((r) => r[0]));
  await s.check('describe', async () =>
    (await query('DESCRIBE people')).map((r) => [r.Field, r.Type]));
  await s.check('group', async () => columns(await query(s.groupSQL)));
  await s.check('public', async () => columns(await query(s.publicSQL)));
  await s.check('prepared', async () => columns(await s.prepared(query)));
  await s.check('text', async () =>
    (await query('SELECT title FROM products WHERE title = ?', [s.title]))[0].title);
  await s.check('error', () => s.refusal(() => query(s.rawSQL)));
  await s.check('extra:place holders', async () => {
    const rows = columns(await query(s.preparedSQL, [3]));
    return s.expect(rows.length === 3 && rows[0][1] === 51.006729, rows);
  });
  await s.check('extra:statistics', async () => {
    const answer = await promisify(c.statistics).bind(c)();
    return s.expect(/Uptime: [1-9]/.test(answer.message), answer);
  });
  await s.check('extra:ping', async () => {
    await promisify(c.ping).bind(c)();
    return true;
  });
  await s.check('extra:changeUser', () => changeUser(c, query));
  c.destroy();
  await s.check('extra:TLS, checked', secured);
  const root = mysql.createConnection(s.dba);
  await s.logins(promisify(root.query).bind(root), whoami, ['mysql_native_password'],
    { ca: fs.readFileSync(process.env.SCRIM_CA) });
  await promisify(root.end).bind(root)();
}

async function whoami(options) {
  const c = mysql.createConnection(options);
  const [r] = await promisify(c.query).bind(c)('SELECT CURRENT_USER() AS u');
  await promisify(c.end).bind(c)();
  return r.u;
}

async function changeUser(c, query) {
  const change = promisify(c.changeUser).bind(c);
  await change({ user: s.dba.user, password: s.dba.password, database: s.dba.database });
  const [r] = await query('SELECT CURRENT_USER() AS u');
  await change({ user: s.options.user, password: s.options.password, database: s.options.database });
  const [back] = await query('SELECT CURRENT_USER() AS u');
  return s.expect(r.u.startsWith('root@') && back.u.startsWith('ann@'), [r, back]);
}

async function secured() {
  const ca = fs.readFileSync(process.env.SCRIM_CA);
  const c = mysql.createConnection({ ...s.options, ssl: { ca } });
  const [r] = await promisify(c.query).bind(c)('SELECT 1 AS one');
  await promisify(c.end).bind(c)();
  return s.expect(r.one === 1, r);
}

s.main(main);

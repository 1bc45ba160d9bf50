// Evidence's connector as Evidence calls it: testConnection, then a runner over .sql files. Before each
// query it sends WITH root AS (<query>) SELECT COUNT(*) FROM root, to learn the number of rows.
'use strict';
const mysql = require('mysql2/promise');
const s = require(`${process.env.SCRIM_LIB}/scrim.js`);

async function main() {
  const { getRunner, testConnection } = require('@evidence-dev/mysql');
  const runner = await getRunner(s.options);
  const ask = async (sql) => {
    const r = await runner(sql, 'query.sql', 1000);
    const rows = [];
    for await (const batch of r.rows()) rows.push(...batch);
    return { rows, expected: r.expectedRowCount, types: r.columnTypes };
  };
  await s.check('connect', async () => (await ask('SELECT VERSION() AS v')).rows[0].v);
  await s.check('list', async () => (await ask('SHOW TABLES')).rows.map((r) => Object.values(r)[0]));
  await s.check('describe', async () =>
    (await ask('DESCRIBE people')).rows.map((r) => [r.field, r.type]));
  await s.check('group', async () =>
    (await ask(s.groupSQL)).rows.map((r) => [r.dept, r.a, r.n]));
  await s.check('public', async () => (await ask(s.publicSQL)).rows.map((r) => [r.id, r.price]));
  s.print('prepared', 'n/a: the connector opens a connection for each query and sends the query as text, so that nothing prepared is there for the next');
  await s.check('text', async () =>
    (await ask(`SELECT title FROM products WHERE title = '${s.title}'`)).rows[0].title);
  await s.check('extra:its own test of the connection', async () => testConnection(s.options));
  await s.check('extra:expected rows', async () => {
    const { expected, rows, types } = await ask(`${s.groupSQL} -- a comment at the end`);
    const kinds = types.map((t) => t.evidenceType);
    return s.expect(expected === 4 && rows.length === 4 && kinds.join() === 'string,number,number',
      [expected, rows, kinds]);
  });
  await s.check('extra:the count beside a query is free', () => counted(ask));
  // Last: the connector leaves a failed stream to the process.
  process.on('uncaughtException', (e) => {
    s.print('error', e.message || String(e));
    process.exit(0);
  });
  await s.check('error', () => s.refusal(() => ask(s.rawSQL)));
}

// counted asks a new query through the connector and compares what was spent with its price.
async function counted(ask) {
  const c = await mysql.createConnection(s.options);
  const sql = 'SELECT dept, AVG(age) AS mean_age FROM people WHERE age > 21 GROUP BY dept';
  const spent = async () => {
    const [rows] = await c.query("SELECT spent_rho FROM dp.budgets WHERE account = 'shop.people'");
    return Math.max(...rows.map((r) => Number(r.spent_rho)));
  };
  const charges = async () => (await c.query(
    "SELECT id, rho, entry, statement FROM dp.ledger WHERE account = 'shop.people' ORDER BY id DESC LIMIT 50"))[0];
  const [before, known] = [await spent(), (await charges()).map((r) => r.id)];
  const { expected } = await ask(sql);
  const after = await spent();
  const fresh = (await charges()).filter((r) => !known.includes(r.id));
  const paid = fresh.filter((r) => Number(r.rho) > 0 && r.entry === 'charge');
  await c.end();
  const ok = expected === 4 && paid.length === 1 && Math.abs(after - before - Number(paid[0].rho)) < 1e-9;
  return s.expect(ok, { expected, before, after, fresh });
}

s.main(main);

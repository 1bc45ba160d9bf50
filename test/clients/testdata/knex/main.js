'use strict';
const knex = require('knex');
const s = require(`${process.env.SCRIM_LIB}/scrim.js`);

const db = knex({ client: 'mysql2', connection: s.options, pool: { min: 0, max: 3 } });

const groups = () =>
  db('people').select('dept').avg({ a: 'amount' }).count({ n: '*' }).groupBy('dept').orderBy('dept');

async function main() {
  await s.check('connect', async () => (await db.raw('SELECT VERSION() AS v'))[0][0].v);
  await s.check('list', async () =>
    (await db('information_schema.tables').select('table_name as t').where('table_schema', s.options.database)).map((r) => r.t));
  await s.check('describe', async () => {
    const info = await db('people').columnInfo();
    return Object.entries(info).map(([name, c]) => [name, c.type]);
  });
  await s.check('group', async () => (await groups()).map((r) => [r.dept, r.a, r.n]));
  await s.check('public', async () =>
    (await db.select('id', 'price').from('products').whereIn('id', [1, 2, 3]).orderBy('id')).map((r) => [r.id, r.price]));
  await s.check('prepared', async () =>
    db.transaction(async (one) => { // it fills in place holders itself
      const [rows] = await s.prepared((q) => one.raw(q));
      return rows.map((r) => [r.id, r.price]);
    }));
  await s.check('text', async () => (await db('products').first('title').where({ title: s.title })).title);
  await s.check('error', () => s.refusal(() => db('people').select('*')));
  await s.check('extra:hasTable, hasColumn', async () => {
    const have = [
      await db.schema.hasTable('people'), await db.schema.hasTable('nothing'),
      await db.schema.hasColumn('people', 'dept'), await db.schema.hasColumn('people', 'nothing'),
    ];
    return s.expect(have.join() === 'true,false,true,false', have);
  });
  await s.check('extra:HAVING over an answer', async () => {
    const rows = await groups().having('n', '>', 500);
    return s.expect(rows.length === 4, rows);
  });
  await s.check('extra:count of a wrapped query', async () => {
    const [r] = await db.from(groups().as('g')).count({ n: '*' });
    return s.expect(r.n === 4, r);
  });
  await s.check('extra:transaction', async () => {
    const n = await db.transaction(async (t) => (await t('products').count({ n: '*' }))[0].n);
    return s.expect(n === 1000, n);
  });
  await s.check('extra:by month', async () => {
    const month = db.raw("DATE_FORMAT(??, '%Y-%m')", ['made']);
    const rows = await db('products').select({ m: month }).count({ n: '*' }).groupBy('m').orderBy('m');
    return s.expect(rows.length === 12 && rows[0].m === '2025-01', rows);
  });
  await db.destroy();
  await s.check('extra:a schema and rows as the DBA', written);
}

async function written() {
  const root = knex({ client: 'mysql2', connection: s.dba, pool: { min: 0, max: 3 } });
  await root.schema.dropTableIfExists('notes');
  await root.schema.createTable('notes', (t) => {
    t.increments('id');
    t.string('title', 40).notNullable();
    t.decimal('price', 10, 2);
    t.timestamp('made').defaultTo(root.fn.now());
    t.index(['title']);
  });
  const [first] = await root('notes').insert({ title: s.title, price: 1.5 });
  const [second] = await root('notes').insert([{ title: 'y', price: 2.5 }, { title: 'z', price: 3 }]);
  const changed = await root('notes').where({ title: 'y' }).update({ price: 7 });
  const rows = await root('notes').select('id', 'title', 'price').orderBy('id');
  const gone = await root('notes').where('price', '>', 2).del();
  await root.schema.dropTable('notes');
  await root.destroy();
  const have = [first, second, changed, rows.map((r) => r.price).join(), rows[0].title, gone];
  return s.expect(have.join('|') === `1|2|1|1.50,7.00,3.00|${s.title}|2`, have);
}

s.main(main);

'use strict';
const { Kysely, MysqlDialect, sql } = require('kysely');
const { createPool } = require('mysql2');
const s = require(`${process.env.SCRIM_LIB}/scrim.js`);

async function main() {
  const db = new Kysely({ dialect: new MysqlDialect({ pool: createPool({ ...s.options, connectionLimit: 3 }) }) });
  const tables = () => db.introspection.getTables();
  await s.check('connect', async () => (await sql`SELECT VERSION() AS v`.execute(db)).rows[0].v);
  await s.check('list', async () => (await tables()).map((t) => t.name));
  await s.check('describe', async () =>
    (await tables()).find((t) => t.name === 'people').columns.map((c) => [c.name, c.dataType]));
  const groups = db.selectFrom('people')
    .select((e) => ['dept', e.fn.avg('amount').as('a'), e.fn.countAll().as('n')])
    .groupBy('dept').orderBy('dept');
  await s.check('group', async () => (await groups.execute()).map((r) => [r.dept, r.a, r.n]));
  await s.check('public', async () =>
    (await sql.raw(s.publicSQL).execute(db)).rows.map((r) => [r.id, r.price]));
  await s.check('prepared', async () => // the dialect has the driver fill in place holders
    db.connection().execute(async (one) =>
      (await s.prepared((q) => sql.raw(q).execute(one))).rows.map((r) => [r.id, r.price])));
  await s.check('text', async () =>
    (await db.selectFrom('products').select('title').where('title', '=', s.title).executeTakeFirst()).title);
  await s.check('error', () => s.refusal(() => db.selectFrom('people').selectAll().execute()));
  await s.check('extra:schemas', async () => {
    const names = (await db.introspection.getSchemas()).map((x) => x.name);
    return s.expect(names.includes(s.options.database), names);
  });
  await s.check('extra:views and nullability', async () => {
    const all = await tables();
    const id = all.find((t) => t.name === 'people').columns[0];
    return s.expect(all.find((t) => t.name === 'dear').isView && !id.isNullable, all);
  });
  await s.check('extra:with', async () => {
    const rows = await db.with('g', () => groups.clearOrderBy())
      .selectFrom('g').select((e) => e.fn.countAll().as('n')).execute();
    return s.expect(Number(rows[0].n) === 4, rows);
  });
  await s.check('extra:stream', async () => {
    let n = 0;
    for await (const row of db.selectFrom('products').select('id').stream()) n += row.id > 0 ? 1 : 0;
    return s.expect(n === 1000, n);
  });
  await db.destroy();
}

s.main(main);

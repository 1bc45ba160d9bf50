'use strict';
const mysql = require('mysql2/promise');
const { drizzle } = require('drizzle-orm/mysql2');
const core = require('drizzle-orm/mysql-core');
const { avg, count, eq, lte, sql, asc } = require('drizzle-orm');
const s = require(`${process.env.SCRIM_LIB}/scrim.js`);

const people = core.mysqlTable('people', {
  id: core.bigint({ mode: 'number' }).primaryKey(),
  name: core.varchar({ length: 40 }),
  dept: core.varchar({ length: 20 }),
  amount: core.decimal({ precision: 10, scale: 2 }),
});
const products = core.mysqlTable('products', {
  id: core.int().primaryKey(),
  title: core.varchar({ length: 60 }),
  price: core.double(),
  made: core.datetime({ mode: 'string' }),
});

async function main() {
  const pool = mysql.createPool({ ...s.options, connectionLimit: 3 });
  const db = drizzle(pool);
  await s.check('connect', async () => (await db.execute(sql`SELECT VERSION() AS v`))[0][0].v);
  await s.check('list', async () => {
    const [rows] = await db.execute(
      sql`select table_name as name from information_schema.tables where table_schema = ${s.options.database}`);
    return rows.map((r) => r.name);
  });
  await s.check('describe', async () => {
    const [rows] = await db.execute(
      sql`select column_name as name, column_type as type from information_schema.columns
          where table_schema = ${s.options.database} and table_name = 'people' order by ordinal_position`);
    return rows.map((r) => [r.name, r.type]);
  });
  await s.check('group', async () => {
    const rows = await db.select({ dept: people.dept, a: avg(people.amount), n: count() })
      .from(people).groupBy(people.dept).orderBy(asc(people.dept));
    return rows.map((r) => [r.dept, r.a, r.n]);
  });
  const cheap = db.select({ id: products.id, price: products.price })
    .from(products).where(lte(products.id, sql.placeholder('n'))).orderBy(products.id);
  await s.check('public', async () =>
    (await db.select().from(products).where(lte(products.id, 3)).orderBy(products.id)).map((p) => [p.id, p.price]));
  await s.check('prepared', async () =>
    db.transaction(async (one) => {
      const [rows] = await s.prepared((q) => one.execute(sql.raw(q)));
      return rows.map((r) => [r.id, r.price]);
    }));
  await s.check('extra:its own prepared query', async () => { // made once; the driver fills in the place holder
    const rows = await cheap.prepare().execute({ n: 3 });
    return s.expect(rows.length === 3 && rows[0].price === 51.006729, rows);
  });
  await s.check('text', async () =>
    (await db.select().from(products).where(eq(products.title, s.title)))[0].title);
  await s.check('error', async () => {
    try {
      await db.select().from(people);
    } catch (e) {
      return e.cause ? e.cause.message : e.message;
    }
    return 'failed: it was answered';
  });
  await s.check('extra:$count', async () => {
    const n = await db.$count(products);
    return s.expect(n === 1000, n);
  });
  await s.check('extra:$count of persons', async () => {
    const n = await db.$count(people);
    return s.expect(n > 3900 && n < 4100, n);
  });
  await s.check('extra:a subquery', async () => {
    const g = db.select({ dept: people.dept, n: count().as('n') }).from(people).groupBy(people.dept).as('g');
    const rows = await db.select({ dept: g.dept, n: g.n }).from(g).orderBy(g.dept);
    return s.expect(rows.length === 4 && rows[0].n > 900, rows);
  });
  await pool.end();
}

s.main(main);

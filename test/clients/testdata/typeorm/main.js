'use strict';
require('reflect-metadata');
const { DataSource, EntitySchema } = require('typeorm');
const s = require(`${process.env.SCRIM_LIB}/scrim.js`);

const Product = new EntitySchema({
  name: 'Product',
  tableName: 'products',
  columns: {
    id: { type: 'int', primary: true },
    title: { type: 'varchar', length: 60, nullable: true },
    price: { type: 'double', nullable: true },
    made: { type: 'datetime', nullable: true },
  },
});
const Person = new EntitySchema({
  name: 'Person',
  tableName: 'people',
  columns: {
    id: { type: 'bigint', primary: true },
    name: { type: 'varchar', length: 40, nullable: true },
    dept: { type: 'varchar', length: 20, nullable: true },
    amount: { type: 'decimal', precision: 10, scale: 2, nullable: true },
  },
});

async function main() {
  const o = s.options;
  const db = new DataSource({
    type: 'mysql', host: o.host, port: o.port, username: o.user, password: o.password,
    database: o.database, entities: [Product, Person], synchronize: false,
  });
  await db.initialize();
  const products = db.getRepository(Product);
  const people = db.getRepository(Person);
  await s.check('connect', async () => (await db.query('SELECT VERSION() AS v'))[0].v);
  const runner = db.createQueryRunner();
  await s.check('list', async () => {
    const names = (await runner.getTables()).map((t) => t.name);
    return names.filter((name) => !name.includes('.')); // the others are of other databases
  });
  await s.check('describe', async () =>
    (await runner.getTable('people')).columns.map((c) => [c.name, c.type]));
  await s.check('group', async () => {
    const rows = await people.createQueryBuilder('p')
      .select('p.dept', 'dept').addSelect('AVG(p.amount)', 'a').addSelect('COUNT(*)', 'n')
      .groupBy('p.dept').orderBy('p.dept').getRawMany();
    return rows.map((r) => [r.dept, r.a, r.n]);
  });
  await s.check('public', async () => {
    const rows = await products.find({ where: [{ id: 1 }, { id: 2 }, { id: 3 }], order: { id: 'ASC' } });
    return rows.map((p) => [p.id, p.price]);
  });
  await s.check('prepared', async () =>
    (await s.prepared((q) => runner.query(q))).map((r) => [r.id, r.price])); // the driver fills in place holders
  await s.check('text', async () => (await products.findOneBy({ title: s.title })).title);
  await s.check('error', () => s.refusal(() => people.find()));
  await s.check('extra:columns as declared', async () => {
    const columns = Object.fromEntries((await runner.getTable('people')).columns.map((c) => [c.name, c]));
    const { name, amount, id } = columns;
    return s.expect(
      name.length === '40' && amount.precision === 10 && amount.scale === 2 && id.isPrimary, columns);
  });
  await s.check('extra:findAndCount', async () => {
    const [rows, n] = await products.findAndCount({ take: 5, skip: 10, order: { id: 'ASC' } });
    return s.expect(n === 1000 && rows[0].id === 11, [n, rows[0]]);
  });
  await s.check('extra:count of persons', async () => {
    const n = await people.count();
    return s.expect(n > 3900 && n < 4100, n);
  });
  await s.check('extra:hasTable, hasDatabase', async () => {
    const have = [await runner.hasTable('people'), await runner.hasTable('nothing'),
      await runner.hasDatabase(o.database)];
    return s.expect(have.join() === 'true,false,true', have);
  });
  await runner.release();
  await db.destroy();
}

s.main(main);

'use strict';
const { MikroORM, EntitySchema, raw } = require('@mikro-orm/mysql');
const { DatabaseSchema } = require('@mikro-orm/mysql');
const s = require(`${process.env.SCRIM_LIB}/scrim.js`);

const Product = new EntitySchema({
  name: 'Product',
  tableName: 'products',
  properties: {
    id: { type: 'integer', primary: true },
    title: { type: 'string', length: 60, nullable: true },
    price: { type: 'double', nullable: true },
    made: { type: 'datetime', nullable: true },
  },
});
const Person = new EntitySchema({
  name: 'Person',
  tableName: 'people',
  properties: {
    id: { type: 'bigint', primary: true },
    dept: { type: 'string', length: 20, nullable: true },
    amount: { type: 'decimal', precision: 10, scale: 2, nullable: true },
  },
});

async function main() {
  const o = s.options;
  const orm = await MikroORM.init({
    host: o.host, port: o.port, user: o.user, password: o.password, dbName: o.database,
    entities: [Product, Person], timezone: '+00:00', discovery: { warnWhenNoEntities: false },
  });
  const em = orm.em.fork();
  const connection = em.getConnection();
  const platform = orm.em.getPlatform();
  await s.check('connect', async () => (await connection.execute('SELECT VERSION() AS v'))[0].v);
  const schema = await DatabaseSchema.create(connection, platform, orm.config).catch((e) => e);
  const introspected = () => {
    if (schema instanceof Error) throw schema;
    return schema;
  };
  await s.check('list', async () => introspected().getTables().map((t) => t.name));
  await s.check('describe', async () =>
    introspected().getTable('people').getColumns().map((c) => [c.name, c.type]));
  await s.check('group', async () => {
    const rows = await em.createQueryBuilder(Person, 'p')
      .select(['p.dept', raw('avg(p.amount) as a'), raw('count(*) as n')])
      .groupBy('p.dept').orderBy({ dept: 'asc' }).execute('all');
    return rows.map((r) => [r.dept, r.a, r.n]);
  });
  await s.check('public', async () =>
    (await em.find(Product, { id: [1, 2, 3] }, { orderBy: { id: 'asc' } })).map((p) => [p.id, p.price]));
  await s.check('prepared', async () =>
    connection.transactional(async (one) => // parameters are filled in by the client
      (await s.prepared((q) => connection.execute(q, [], 'all', one))).map((r) => [r.id, r.price])));
  await s.check('text', async () => (await em.findOne(Product, { title: s.title })).title);
  await s.check('error', () => s.refusal(() => em.find(Person, {})));
  await s.check('extra:findAndCount', async () => {
    const [rows, n] = await em.findAndCount(Product, {}, { limit: 5, offset: 10, orderBy: { id: 'asc' } });
    return s.expect(n === 1000 && rows[0].id === 11, [n, rows]);
  });
  await s.check('extra:count of persons', async () => {
    const n = await em.count(Person);
    return s.expect(n > 3900 && n < 4100, n);
  });
  await s.check('extra:primary key', async () => {
    const key = introspected().getTable('products').getPrimaryKey();
    return s.expect(key && key.columnNames.join() === 'id', key);
  });
  await orm.close();
}

s.main(main);

'use strict';
const { Sequelize, DataTypes, QueryTypes, fn, col } = require('sequelize');
const s = require(`${process.env.SCRIM_LIB}/scrim.js`);

const o = s.options;
const db = new Sequelize(o.database, o.user, o.password,
  { host: o.host, port: o.port, dialect: 'mysql', logging: false, pool: { max: 3 } });
const plain = { timestamps: false, freezeTableName: true };
const Product = db.define('products', {
  id: { type: DataTypes.INTEGER, primaryKey: true },
  title: DataTypes.STRING(60),
  price: DataTypes.DOUBLE,
  made: DataTypes.DATE,
}, plain);
const Person = db.define('people', {
  id: { type: DataTypes.BIGINT, primaryKey: true },
  name: DataTypes.STRING(40),
  dept: DataTypes.STRING(20),
  age: DataTypes.INTEGER,
  amount: DataTypes.DECIMAL(10, 2),
  joined: DataTypes.DATEONLY,
}, plain);

async function main() {
  await s.check('connect', async () => {
    await db.authenticate();
    return db.databaseVersion();
  });
  const q = db.getQueryInterface();
  await s.check('list', async () => (await q.showAllTables()).map((t) => t.tableName || t));
  await s.check('describe', async () =>
    Object.entries(await q.describeTable('people')).map(([name, c]) => [name, c.type]));
  await s.check('group', async () => {
    const rows = await Person.findAll({
      attributes: ['dept', [fn('AVG', col('amount')), 'a'], [fn('COUNT', '*'), 'n']],
      group: ['dept'], order: ['dept'], raw: true,
    });
    return rows.map((r) => [r.dept, r.a, r.n]);
  });
  await s.check('public', async () =>
    (await Product.findAll({ where: { id: [1, 2, 3] }, order: ['id'] })).map((p) => [p.id, p.price]));
  await s.check('prepared', async () => {
    const rows = await db.query(s.preparedSQL.replace('?', '$1'), { bind: [3], type: QueryTypes.SELECT });
    return rows.map((r) => [r.id, r.price]);
  });
  await s.check('text', async () => (await Product.findOne({ where: { title: s.title } })).title);
  await s.check('error', () => s.refusal(() => Person.findAll({ raw: true })));
  await s.check('extra:sum, min and max of public rows', async () => {
    const have = [await Product.count(), await Product.min('id'), await Product.max('id')];
    return s.expect(have.join() === '1000,1,1000', have);
  });
  await s.check('extra:findAndCountAll', async () => {
    const page = await Product.findAndCountAll({ limit: 5, offset: 10, order: ['id'] });
    return s.expect(page.count === 1000 && page.rows[0].id === 11, page);
  });
  await s.check('extra:a date', async () => {
    const p = await Product.findByPk(1);
    return s.expect(p.made.toISOString() === '2025-01-01T00:30:00.000Z', p.made);
  });
  await s.check('extra:indexes', async () => {
    const names = (await q.showIndex('products')).map((i) => i.name);
    return s.expect(names.includes('PRIMARY'), names);
  });
  await s.check('extra:foreign keys', async () =>
    s.expect((await q.getForeignKeyReferencesForTable('products')).length === 0, 'some'));
  await s.check('extra:count of persons', async () => {
    const n = await Person.count();
    return s.expect(n > 3900 && n < 4100, n);
  });
  await db.close();
  await s.check('extra:a model as the DBA', written);
}

async function written() {
  const root = new Sequelize(o.database, s.dba.user, s.dba.password,
    { host: o.host, port: o.port, dialect: 'mysql', logging: false, pool: { max: 3 } });
  const Note = root.define('memos', { title: DataTypes.STRING(40), n: DataTypes.INTEGER });
  await Note.sync({ force: true });
  const note = await Note.create({ title: s.title, n: 1 });
  note.n = 5;
  await note.save();
  await Note.bulkCreate([{ title: 'b', n: 2 }, { title: 'c', n: 3 }]);
  await root.transaction((transaction) => Note.create({ title: 'd', n: 9 }, { transaction }));
  const rows = await Note.findAll({ raw: true, order: ['id'] });
  await note.destroy();
  const left = await Note.count();
  await Note.drop();
  await root.close();
  const have = [note.id, rows.map((r) => r.n).join(), rows[0].title, left];
  return s.expect(have.join('|') === `1|5,2,3,9|${s.title}|3`, have);
}

s.main(main);

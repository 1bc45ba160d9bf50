// Cube over REST, as a dashboard asks it. It writes all SQL itself.
'use strict';
const { spawnSync } = require('child_process');
const fs = require('fs');
const path = require('path');
const s = require(`${process.env.SCRIM_LIB}/scrim.js`);
const { start } = require('./start.js');

const { MySqlDriver } = require('@cubejs-backend/mysql-driver');

async function main() {
  const driver = new MySqlDriver({ ...s.options });
  await s.check('connect', async () => (await driver.query('SELECT VERSION() AS v', []))[0].v);
  // tablesSchema is what Cube's "generate a schema" sends.
  const tables = async () => (await driver.tablesSchema())[s.options.database];
  await s.check('list', async () => Object.keys(await tables()));
  await s.check('describe', async () =>
    (await tables()).people.map((c) => [c.name, c.type]));

  const cube = await start(process.cwd(), s.options, path.resolve('node_modules'));
  const rows = async (query) => (await cube.load({ timezone: 'UTC', ...query })).data;
  await s.check('group', async () => {
    const answer = await rows({
      measures: ['People.amount', 'People.count'], dimensions: ['People.dept'], order: { 'People.dept': 'asc' },
    });
    return answer.map((r) => [r['People.dept'], r['People.amount'], r['People.count']]);
  });
  await s.check('public', async () => {
    const answer = await rows({
      dimensions: ['Products.id', 'Products.price_'], order: { 'Products.id': 'asc' },
      filters: [{ member: 'Products.id', operator: 'lte', values: ['3'] }],
    });
    return answer.map((r) => [r['Products.id'], r['Products.price_']]);
  });
  s.print('prepared', 'n/a: Cube writes each statement itself, and its driver fills in place holders before it sends them');
  await s.check('text', async () => (await rows({
    dimensions: ['Products.title'], filters: [{ member: 'Products.title', operator: 'equals', values: [s.title] }],
  }))[0]['Products.title']);
  await s.check('error', () => s.refusal(() => rows({ dimensions: ['People.id', 'People.age'], ungrouped: true })));

  await s.check('extra:count of distinct persons', async () => {
    const [r] = await rows({ measures: ['People.persons'] });
    return s.expect(Math.abs(r['People.persons'] - 4000) < 100, r);
  });
  await s.check('extra:a ratio of measures', async () => {
    const [r] = await rows({ measures: ['People.ratio'] });
    return s.expect(Math.abs(r['People.ratio'] - 50) < 2, r);
  });
  await s.check('extra:error bars as measures', async () => {
    const answer = await rows({
      measures: ['People.amount', 'People.low', 'People.high'], dimensions: ['People.dept'],
    });
    return s.expect(answer.length === 4 && answer.every((r) =>
      Number(r['People.low']) < Number(r['People.amount']) && Number(r['People.amount']) < Number(r['People.high'])), answer);
  });
  await s.check('extra:by year, protected', async () => {
    const answer = await rows({
      measures: ['People.count'],
      timeDimensions: [{ dimension: 'People.joined', granularity: 'year', dateRange: ['2010-01-01', '2024-12-31'] }],
    });
    return s.expect(answer.length === 15 && answer[0]['People.joined.year'] === '2010-01-01T00:00:00.000', answer);
  });
  for (const [granularity, n] of [['day', 84], ['week', 49], ['month', 12], ['quarter', 4], ['year', 1]]) {
    await s.check(`extra:by ${granularity}, public`, async () => {
      const answer = await rows({
        measures: ['Products.count', 'Products.price'],
        timeDimensions: [{ dimension: 'Products.made', granularity, dateRange: ['2025-01-01', '2025-12-31'] }],
      });
      const total = answer.reduce((sum, r) => sum + Number(r['Products.count']), 0);
      return s.expect(total === 1000 && answer.length === n, [answer.length, total, answer[0]]);
    });
  }
  await s.check('extra:filters, segments, limit and order', async () => {
    const answer = await rows({
      measures: ['People.count', 'People.amount'], dimensions: ['People.dept'], segments: ['People.grown'],
      filters: [{ member: 'People.dept', operator: 'notEquals', values: ['law'] },
        { member: 'People.count', operator: 'gt', values: ['100'] }],
      order: { 'People.amount': 'desc' }, limit: 2,
    });
    return s.expect(answer.map((r) => r['People.dept']).join() === 'tech,sales', answer);
  });
  await s.check('extra:total beside a page', async () => {
    const answer = await cube.load({
      measures: ['Products.count'], dimensions: ['Products.title'], limit: 10, total: true,
    });
    const total = (answer.total ?? answer.results?.[0]?.total);
    return s.expect(Number(total) === 1000, total);
  });
  cube.stop();
  await s.check('extra:the chart of the docs is drawn', () => drawn());
  fs.copyFileSync('cube.log', path.join(process.env.SCRIM_OUT, 'cube.log'));
}

// drawn makes docs/chart.png anew, elsewhere: a demonstration, Cube and Chromium of its own.
function drawn() {
  const picture = path.join(process.env.SCRIM_OUT, 'chart.png');
  const r = spawnSync(process.execPath, [path.join(process.env.SCRIM_MODULE, 'docs/chart/make.js'), picture],
    { encoding: 'utf8', env: { ...process.env, NODE_PATH: path.resolve('node_modules') } });
  return s.expect(r.status === 0 && fs.statSync(picture).size > 20000, r.stderr);
}

s.main(main);

// The page: four queries to Cube, four charts by Vega-Lite.
'use strict';
const { api, token } = window.cube; // set by make.js
const client = cubejs(token, { apiUrl: api }); // eslint-disable-line no-undef
const days = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

// rows asks Cube and returns numbers under the members' short names. A group with too few persons has no answer.
const rows = async (query) =>
  (await client.load({ timezone: 'UTC', ...query })).rawData().map((r) =>
    Object.fromEntries(Object.entries(r).map(([k, v]) =>
      [k.split('.')[1], v === null || Number.isNaN(Number(v)) ? v : Number(v)])));

const interval = (low, high, colour) => ({
  mark: { type: 'errorbar', ticks: { size: 7 }, thickness: 1.4, color: colour },
  encoding: { y: { field: low, type: 'quantitative', title: '' }, y2: { field: high } },
});

const draw = (id, title, values, width, height, spec) =>
  vegaEmbed(`#${id}`, { // eslint-disable-line no-undef
    $schema: 'https://vega.github.io/schema/vega-lite/v5.json',
    title: { text: title, anchor: 'start', fontSize: 14 },
    data: { values }, width, height, config: { font: 'DejaVu Sans', view: { stroke: null } }, ...spec,
  }, { actions: false, renderer: 'svg' });

async function earners() {
  const values = (await rows({
    measures: ['Adult.share', 'Adult.shareLow', 'Adult.shareHigh'], dimensions: ['Adult.sex', 'Adult.band'],
    filters: [{ member: 'Adult.age', operator: 'gte', values: ['20'] },
      { member: 'Adult.age', operator: 'lt', values: ['70'] }],
    order: [['Adult.sex', 'asc'], ['Adult.band', 'asc']],
  })).filter((r) => r.share !== null);
  for (const r of values) {
    r.age = r.band + (r.sex === 'Male' ? 2.7 : 2.3); // beside each other
    r.shareLow = Math.max(r.shareLow, 0); // a share is never below; arithmetic on answers is free
  }
  const y = { type: 'quantitative', axis: { format: '.0%' }, title: 'share of persons' };
  return draw('top', 'Who earns more than 50 K, by age and sex', values, 820, 260, {
    encoding: {
      x: { field: 'age', type: 'quantitative', title: 'age', scale: { domain: [20, 70] },
        axis: { values: [20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70] } },
      color: { field: 'sex', type: 'nominal', title: '', scale: { range: ['#c05640', '#205493'] } },
    },
    layer: [
      { mark: { type: 'line', opacity: 0.45 }, encoding: { y: { ...y, field: 'share' } } },
      { mark: { type: 'errorbar', ticks: { size: 7 }, thickness: 1.4 },
        encoding: { y: { ...y, field: 'shareLow', scale: { domainMin: 0 } }, y2: { field: 'shareHigh' } } },
      { mark: { type: 'point', filled: true, size: 36, opacity: 1 }, encoding: { y: { ...y, field: 'share' } } },
    ],
  });
}

async function week() {
  const values = (await rows({
    measures: ['Visits.visits', 'Visits.visitsLow', 'Visits.visitsHigh', 'Visits.stay', 'Visits.stayLow', 'Visits.stayHigh'],
    dimensions: ['Visits.day'], order: { 'Visits.day': 'asc' },
  })).map((r) => ({ ...r, name: days[r.day - 1] }));
  const x = { field: 'name', type: 'ordinal', sort: days, title: '', axis: { labelAngle: 0 } };
  await draw('visits', 'Visits a day', values, 250, 170, {
    encoding: { x },
    layer: [
      { mark: { type: 'bar', color: '#9db8d9' }, encoding: { y: { field: 'visits', type: 'quantitative', title: 'visits' } } },
      interval('visitsLow', 'visitsHigh', '#205493'),
    ],
  });
  await draw('stay', 'Minutes a visit', values, 250, 170, {
    encoding: { x },
    layer: [
      { mark: { type: 'point', filled: true, size: 36, opacity: 1, color: '#205493' },
        encoding: { y: { field: 'stay', type: 'quantitative', title: 'mean, minutes', scale: { zero: false } } } },
      interval('stayLow', 'stayHigh', '#205493'),
    ],
  });
}

async function budget() {
  const answer = await rows({ measures: ['Budgets.spent', 'Budgets.left'], dimensions: ['Budgets.account'] });
  const values = answer.flatMap((r) =>
    [{ account: r.account, part: 'spent', epsilon: r.spent }, { account: r.account, part: 'left', epsilon: r.left }]);
  return draw('budget', "The month's budget", values, 170, 170, {
    mark: 'bar',
    encoding: {
      x: { field: 'account', type: 'nominal', title: '', axis: { labelAngle: 0 } },
      y: { field: 'epsilon', type: 'quantitative', title: 'epsilon' },
      color: { field: 'part', type: 'nominal', title: '', scale: { domain: ['left', 'spent'], range: ['#dde3ea', '#c05640'] },
        legend: { orient: 'bottom' } },
      order: { field: 'part', sort: 'descending' },
    },
  });
}

earners().then(week).then(budget).then(
  () => { document.body.dataset.state = 'drawn'; },
  (e) => { document.body.dataset.state = `failed: ${e.message || e}`; },
);

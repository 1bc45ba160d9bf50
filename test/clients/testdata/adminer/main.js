// Adminer in Chromium: log in, browse, ask in the SQL box, page through a table.
'use strict';
const fs = require('fs');
const s = require(`${process.env.SCRIM_LIB}/scrim.js`);
const b = require(`${process.env.SCRIM_LIB}/browser.js`);

const o = s.options;

async function main() {
  fs.mkdirSync('www');
  fs.symlinkSync('/usr/share/adminer/adminer.php', 'www/index.php');
  const at = await b.php('www');
  const { page, shot, close } = await b.chrome();
  const open = (query) =>
    page.goto(`${at}/?${new URLSearchParams({ server: `${o.host}:${o.port}`, username: o.user, db: o.database, ...query })}`);
  const trouble = async () =>
    (await page.locator('#content .error').allInnerTexts()).join(' ');

  await s.check('connect', async () => {
    await page.goto(at);
    await page.fill('[name="auth[server]"]', `${o.host}:${o.port}`);
    await page.fill('[name="auth[username]"]', o.user);
    await page.fill('[name="auth[password]"]', o.password);
    await page.fill('[name="auth[db]"]', o.database);
    await page.click('input[type=submit][value=Login]');
    await page.waitForSelector('#tables');
    return (await ask('SELECT VERSION()'))[0][0];
  });

  // ask sends a statement by the SQL box and returns the cells of its answer.
  async function ask(sql) {
    await open({ sql: '' });
    await page.evaluate((text) => {
      document.querySelector('textarea[name=query]').value = text;
      const pre = document.querySelector('pre.sqlarea');
      if (pre) pre.textContent = text;
    }, sql);
    await Promise.all([page.waitForNavigation(), page.click('#form input[type=submit][value=Execute]')]);
    const wrong = await trouble();
    if (wrong) throw new Error(wrong);
    const table = page.locator('#content table').first();
    return b.cells(table);
  }

  const structure = async (table) => {
    await open({ table });
    const rows = await b.cells(page.locator('#content table').first());
    return { rows: rows.filter((r) => r[0] !== 'Column').map((r) => [r[0], r[1].split(' NULL')[0]]), wrong: await trouble() };
  };

  await s.check('list', async () => {
    await open({});
    await shot('adminer-tables');
    const rows = await b.cells(page.locator('#content form table').first());
    return rows.map((r) => r[1]).filter((name) => /^[a-z]+$/.test(name));
  });
  await s.check('extra:a database without complaints', async () => {
    const wrong = await trouble();
    return s.expect(wrong === '', wrong);
  });
  await s.check('describe', async () => {
    const { rows, wrong } = await structure('people');
    await shot('adminer-structure');
    return wrong || rows;
  });
  await s.check('group', async () => {
    const rows = await ask(s.groupSQL);
    await shot('adminer-group');
    return rows;
  });
  await s.check('public', async () => ask(s.publicSQL));
  await s.check('prepared', async () => ask([...s.prepareSQL, s.executeSQL, s.deallocateSQL].join(';\n')));
  await s.check('text', async () => (await ask(`SELECT title FROM products WHERE title = '${s.title}'`))[0][0]);
  await s.check('error', async () => {
    const message = await s.refusal(() => ask(s.rawSQL));
    await shot('adminer-refusal');
    return message;
  });
  await s.check('extra:structure of a public table', async () => {
    const { rows, wrong } = await structure('products');
    return s.expect(!wrong && rows.length === 4, [rows, wrong]);
  });
  await s.check('extra:select page of a public table', async () => {
    await open({ select: 'products' });
    const rows = await b.cells(page.locator('#table'));
    await shot('adminer-select');
    return s.expect(!(await trouble()) && rows.length >= 50, [rows.length, await trouble()]);
  });
  await s.check('extra:select page of a protected table is refused', async () => {
    await open({ select: 'people' });
    return s.expect(/protected|person/.test(await trouble()), await trouble());
  });
  await s.check('extra:EXPLAIN beside an answer', async () => {
    await ask(s.groupSQL);
    const explain = page.locator('a[href^="#explain"]').first();
    await explain.click();
    const text = await page.locator('#content [id^=explain]').first().innerText();
    return s.expect(text.length > 20, text);
  });
  await s.check('extra:status, variables and processes', async () => {
    const wrong = [];
    for (const q of [{ status: '' }, { variables: '' }, { processlist: '' }]) {
      await open(q);
      wrong.push(await trouble());
      if ((await page.locator('#content table tr').count()) < 1) wrong.push(`${Object.keys(q)} is empty`);
    }
    return s.expect(wrong.join('') === '', wrong);
  });
  // dump sends the form of the export page and returns the file. The page takes the box for a table's data
  // away where the server tells no number of rows; force asks for the data nevertheless.
  const dump = async (table, force) => {
    await open({ dump: table });
    await page.waitForLoadState('networkidle');
    return page.evaluate(async (forced) => {
      const form = document.querySelector('#content form');
      const body = new URLSearchParams(new FormData(form));
      body.set('output', 'text');
      body.set('format', 'csv');
      if (forced) body.set('data[]', forced);
      return (await fetch(window.location, { method: 'POST', body })).text();
    }, force && table);
  };
  await s.check('extra:export of a public table', async () => {
    const lines = (await dump('products')).split('\n');
    return s.expect(lines.filter((l) => /^\d+,/.test(l)).length === 1000, lines.slice(0, 5));
  });
  await s.check('extra:export of a protected table has no rows', async () => {
    const text = await dump('people', true);
    return s.expect(text.trim() === 'id,name,dept,age,amount,joined', text.slice(0, 300));
  });
  await close();
}

s.main(main);

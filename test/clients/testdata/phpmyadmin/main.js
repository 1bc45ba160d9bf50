// phpMyAdmin in Chromium: log in, browse, ask in the SQL box, and the pages about the server.
'use strict';
const crypto = require('crypto');
const fs = require('fs');
const path = require('path');
const s = require(`${process.env.SCRIM_LIB}/scrim.js`);
const b = require(`${process.env.SCRIM_LIB}/browser.js`);

const o = s.options;
const installed = '/usr/share/phpmyadmin';

// unpack makes a copy of the package with our own config file. PHP resolves links, so what finds the
// configuration by its own path is copied, and the rest is linked.
function unpack() {
  fs.mkdirSync('www');
  fs.mkdirSync('tmp');
  fs.writeFileSync('secret', crypto.randomBytes(16).toString('hex'));
  for (const name of fs.readdirSync(installed)) {
    const from = path.join(installed, name);
    if (['libraries', 'templates'].includes(name) || name.endsWith('.php')) {
      fs.cpSync(from, path.join('www', name), { recursive: true, dereference: true });
    } else {
      fs.symlinkSync(from, path.join('www', name));
    }
  }
  const file = 'www/libraries/vendor_config.php';
  const here = (name) => `'${path.resolve(name)}'`;
  fs.writeFileSync(file, fs.readFileSync(file, 'utf8')
    .replace(/('configFile' => )[^,]+/, `$1${here('config.inc.php')}`)
    .replace(/('tempDir' => )[^,]+/, `$1${here('tmp/')}`));
}

async function main() {
  unpack();
  const at = await b.php('www', '-d', `session.save_path=${path.resolve('tmp')}`);
  const { page, shot, close } = await b.chrome();
  const settled = () => page.waitForLoadState('networkidle');
  const open = async (route, query = {}) => {
    await page.goto(`${at}/index.php?${new URLSearchParams({ route, db: o.database, lang: 'en', ...query })}`);
    await settled();
  };
  const trouble = async () =>
    (await page.locator('.alert-danger:visible, .error:visible').allInnerTexts()).join(' ').replace(/\s+/g, ' ').trim();

  await s.check('connect', async () => {
    await page.goto(`${at}/index.php?lang=en`);
    await page.fill('#input_username', o.user);
    await page.fill('#input_password', o.password);
    await page.click('#input_go');
    await page.waitForSelector('#pma_navigation');
    await settled();
    await shot('phpmyadmin-home');
    const about = await page.locator('#page_content').innerText();
    return (/Server version:\s*(\S+)/.exec(about) || [])[1];
  });

  // ask sends a statement by the SQL box and returns the cells of its answer.
  async function ask(sql) {
    await open('/database/sql');
    await page.click('#sqlqueryform .CodeMirror');
    await page.keyboard.insertText(sql);
    await page.click('#button_submit_query');
    await page.locator('table.table_results, .alert-danger').first().waitFor();
    await settled();
    const wrong = await trouble();
    if (wrong) throw new Error(wrong);
    return page.locator('table.table_results').first().evaluate((t) =>
      [...t.querySelectorAll('tbody tr')].map((row) =>
        [...row.querySelectorAll('td.data')].map((cell) => cell.innerText.trim())));
  }

  await s.check('list', async () => {
    await open('/database/structure');
    await shot('phpmyadmin-tables');
    return page.locator('tr[id^=row_tbl_] th a').allInnerTexts();
  });
  await s.check('describe', async () => {
    await open('/table/structure', { table: 'people' });
    await shot('phpmyadmin-structure');
    const rows = await page.locator('#tablestructure').evaluate((t) =>
      [...t.querySelectorAll('tbody tr')].map((r) =>
        [r.querySelector('th').innerText, r.querySelectorAll('td')[2].innerText]));
    return rows.map((r) => r.map((c) => c.trim()));
  });
  await s.check('group', async () => {
    const rows = await ask(s.groupSQL);
    await shot('phpmyadmin-group');
    return rows;
  });
  await s.check('public', () => ask(s.publicSQL));
  await s.check('prepared', () => ask([...s.prepareSQL, s.executeSQL, s.deallocateSQL].join(';\n')));
  await s.check('text', async () => (await ask(`SELECT title FROM products WHERE title = '${s.title}'`))[0][0]);
  await s.check('error', async () => {
    const message = await s.refusal(() => ask(s.rawSQL));
    await shot('phpmyadmin-refusal');
    return message;
  });
  await s.check('extra:structure of a public table', async () => {
    await open('/table/structure', { table: 'products' });
    const n = await page.locator('#tablestructure tbody tr').count();
    return s.expect(n === 4 && !(await trouble()), [n, await trouble()]);
  });
  await s.check('extra:browse a public table', async () => {
    await open('/sql', { table: 'products', pos: '0' });
    const n = await page.locator('table.table_results tbody tr').count();
    await shot('phpmyadmin-browse');
    return s.expect(n === 25 && !(await trouble()), [n, await trouble()]);
  });
  await s.check('extra:browse a protected table is refused', async () => {
    await open('/database/structure');
    await page.locator('tr[id^=row_tbl_]', { hasText: 'people' }).getByText('Browse').click();
    await page.locator('.alert-danger:visible').first().waitFor();
    await shot('phpmyadmin-browse-refused');
    const wrong = await trouble();
    return s.expect(/protected|person/.test(wrong), wrong);
  });
  // dump sends the form of the export page, as it stands but for the format, and returns the answer.
  const dump = async (table) => {
    await open('/table/export', { table });
    return page.evaluate(async () => {
      const form = document.querySelector('form[name=dump]');
      const body = new URLSearchParams(new FormData(form));
      body.set('what', 'csv');
      body.set('output_format', 'astext');
      return (await fetch(form.action, { method: 'POST', body })).text();
    });
  };
  await s.check('extra:export of a public table', async () => {
    const text = await dump('products');
    return s.expect(text.includes('product 1000') && text.includes(s.title), text.slice(-400));
  });
  await s.check('extra:export of a protected table has no rows', async () => {
    const text = await dump('people');
    return s.expect(/#1644/.test(text) && !text.includes('Мария'), text.slice(0, 400));
  });
  for (const [name, route] of [['status', '/server/status'], ['status variables', '/server/status/variables'],
    ['advisor', '/server/status/advisor'], ['monitor', '/server/status/monitor'], ['variables', '/server/variables'],
    ['engines', '/server/engines'], ['databases', '/server/databases'], ['collations', '/server/collations']]) {
    await s.check(`extra:${name}`, async () => {
      await open(route);
      if (name === 'status') await shot('phpmyadmin-status');
      const text = await page.locator('body').innerText();
      const bad = /DivisionByZeroError|Fatal error|Uncaught|Error in processing|#1[0-9]{3} /.exec(text);
      const wrong = await trouble();
      return s.expect(!bad && !wrong && text.length > 200, [bad && text.slice(bad.index, bad.index + 300), wrong]);
    });
  }
  await close();
}

s.main(main);

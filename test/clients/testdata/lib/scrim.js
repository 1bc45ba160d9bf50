// What the Node clients share: the environment, and one line a check.
'use strict';

const env = process.env;

exports.options = {
  host: env.SCRIM_HOST,
  port: Number(env.SCRIM_PORT),
  user: env.SCRIM_USER,
  password: env.SCRIM_PASSWORD,
  database: env.SCRIM_DB,
};

exports.dba = { ...exports.options, user: env.SCRIM_DBA, password: env.SCRIM_DBA_PASSWORD };

exports.groupSQL =
  'SELECT dept, AVG(amount) AS a, COUNT(*) AS n FROM people GROUP BY dept ORDER BY dept';
exports.publicSQL = 'SELECT id, price FROM products WHERE id <= 3 ORDER BY id';
exports.preparedSQL = 'SELECT id, price FROM products WHERE id <= ? ORDER BY id';
exports.prepareSQL = [`PREPARE cheap FROM '${exports.preparedSQL}'`, 'SET @n = 3'];
exports.executeSQL = 'EXECUTE cheap USING @n';
exports.deallocateSQL = 'DEALLOCATE PREPARE cheap';
exports.rawSQL = 'SELECT * FROM people';
exports.title = 'Zoë — 日本 😀';

const text = (key, value) => (typeof value === 'bigint' ? value.toString() : value);

exports.print = (name, value) =>
  console.log(`${name}\t${JSON.stringify(value === undefined ? null : value, text)}`);

// check prints what f returns, or what it threw.
exports.check = async (name, f) => {
  try {
    exports.print(name, await f());
  } catch (e) {
    exports.print(name, `failed: ${e && e.message ? e.message : e}`);
  }
};

// refusal returns the message of the error that f ends with.
exports.refusal = async (f) => {
  let answer;
  try {
    answer = await f();
  } catch (e) {
    return e.message;
  }
  return `failed: it was answered: ${JSON.stringify(answer, text).slice(0, 100)}`;
};

// expect returns true, or says what was wrong.
exports.expect = (ok, have) => (ok ? true : `have ${JSON.stringify(have, text)}`);

// logins logs in an account of its own by each plugin, in clear and over TLS. ask runs a statement as the
// DBA; connect opens a connection with options, asks it CURRENT_USER() and closes it.
exports.logins = async (ask, connect, plugins, tls) => {
  const user = 'plugged';
  for (const plugin of plugins) {
    for (const ssl of [undefined, tls]) {
      const name = `extra:${plugin} ${ssl ? 'over TLS' : 'in clear'}`;
      await exports.check(name, async () => {
        await ask(`DROP USER IF EXISTS '${user}'@'%'`);
        await ask(`CREATE USER '${user}'@'%' IDENTIFIED WITH ${plugin} BY 'pw é 1'`);
        await ask(`GRANT SELECT ON ${exports.options.database}.* TO '${user}'@'%'`);
        const have = [];
        for (let i = 0; i < 2; i++) { // anew, and by what the server remembers
          have.push(await connect({ ...exports.options, user, password: 'pw é 1', ssl }));
        }
        const wrong = await exports.refusal(() => connect({ ...exports.options, user, password: 'wrong', ssl }));
        return exports.expect(have.every((h) => h.startsWith(`${user}@`)) && /Access denied/.test(wrong), [have, wrong]);
      });
    }
  }
  await ask(`DROP USER IF EXISTS '${user}'@'%'`);
};

// prepared returns the answer of a statement that is prepared in SQL. ask sends one statement, always over the same
// connection, and returns its rows.
exports.prepared = async (ask) => {
  for (const sql of exports.prepareSQL) await ask(sql);
  const rows = await ask(exports.executeSQL);
  await ask(exports.deallocateSQL);
  return rows;
};

// main runs f and ends the process well only where it ends well.
exports.main = (f) =>
  f().then(
    () => process.exit(0),
    (e) => {
      console.error(e);
      process.exit(1);
    },
  );

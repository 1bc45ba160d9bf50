<?php
$e = fn(string $name) => getenv("SCRIM_$name");
const GROUP = 'SELECT dept, AVG(amount) AS a, COUNT(*) AS n FROM people GROUP BY dept ORDER BY dept';
const ONLY = 'SELECT id, price FROM products WHERE id <= 3 ORDER BY id';
const PREPARED = 'SELECT id, price FROM products WHERE id <= ? ORDER BY id';
const TITLE = 'Zoë — 日本 😀';
ini_set('serialize_precision', '17');
mysqli_report(MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT);

function check(string $name, callable $f): void {
    try {
        $v = $f();
    } catch (Throwable $x) {
        $v = 'failed: ' . $x->getMessage();
    }
    echo $name, "\t", json_encode($v, JSON_UNESCAPED_UNICODE | JSON_INVALID_UTF8_SUBSTITUTE), "\n";
}

function refused(callable $f): string {
    try {
        $f();
        return 'failed: it was answered';
    } catch (Throwable $x) {
        return $x->getMessage();
    }
}

function connect(): mysqli {
    global $e;
    $db = new mysqli($e('HOST'), $e('USER'), $e('PASSWORD'), $e('DB'), (int) $e('PORT'));
    $db->set_charset('utf8mb4');
    return $db;
}

$db = connect();
$ask = fn(string $q) => $db->query($q)->fetch_all();
check('connect', fn() => $db->server_info);
check('list', fn() => array_column($ask('SHOW TABLES'), 0));
check('describe', fn() => array_map(fn($r) => array_slice($r, 0, 2), $ask('SHOW FULL COLUMNS FROM people')));
check('group', fn() => $ask(GROUP));
check('public', fn() => $ask(ONLY));
check('prepared', function () use ($db) {
    $s = $db->prepare(PREPARED);
    $n = 3;
    $s->bind_param('i', $n);
    $s->execute();
    return $s->get_result()->fetch_all();
});
check('text', function () use ($db) {
    $s = $db->prepare('SELECT title FROM products WHERE title = ?');
    $t = TITLE;
    $s->bind_param('s', $t);
    $s->execute();
    return $s->get_result()->fetch_row()[0];
});
check('error', fn() => refused(fn() => $ask('SELECT * FROM people')));

check('extra:mysqli stat()', fn() => str_contains($db->stat(), 'Uptime: ') ?: $db->stat());
check('extra:mysqli change_user()', fn() => ($c = connect())->change_user($e('USER'), $e('PASSWORD'), 'information_schema') && $c->query('SELECT DATABASE()')->fetch_row()[0] === 'information_schema');
check('extra:mysqli change_user() with a wrong password', fn() => str_contains($m = refused(fn() => connect()->change_user($e('USER'), 'wrong', $e('DB'))), 'Access denied') ?: $m);
check('extra:mysqli multi_query()', function () {
    $db = connect();
    $db->multi_query('SELECT 1; SELECT 2');
    $out = [];
    do {
        $out[] = $db->store_result()->fetch_row()[0];
    } while ($db->next_result());
    return $out == [1, 2] ?: $out;
});
check('extra:mysqli, rows as they come', fn() => count(($c = connect())->query('SELECT id FROM products', MYSQLI_USE_RESULT)->fetch_all()) === 1000);
check('extra:mysqli fields', function () use ($db) {
    $f = $db->query(GROUP)->fetch_fields();
    return [$f[0]->orgtable ?: $f[0]->table, $f[0]->name, $f[1]->type, $f[1]->decimals, $f[2]->type] === ['people', 'dept', MYSQLI_TYPE_NEWDECIMAL, 6, MYSQLI_TYPE_LONGLONG] ?: $f;
});
check('extra:mysqli cursor', function () {
    $db = connect();
    $s = $db->prepare('SELECT id FROM products');
    $s->attr_set(MYSQLI_STMT_ATTR_CURSOR_TYPE, MYSQLI_CURSOR_TYPE_READ_ONLY);
    $s->execute();
    $s->bind_result($id);
    for ($n = 0; $s->fetch(); $n++);
    return $n === 1000 ?: $n;
});
check('extra:mysqli over TLS', function () use ($e) {
    $db = mysqli_init();
    $db->ssl_set(null, null, $e('CA'), null, null);
    $db->options(MYSQLI_OPT_SSL_VERIFY_SERVER_CERT, true);
    $db->real_connect($e('HOST'), $e('USER'), $e('PASSWORD'), $e('DB'), (int) $e('PORT'), null, MYSQLI_CLIENT_SSL);
    return count($db->query(GROUP)->fetch_all()) === 4;
});
check('extra:caching_sha2_password, in clear and over TLS', function () use ($e) {
    foreach ([false, true] as $tls) {
        $db = mysqli_init();
        $tls && $db->ssl_set(null, null, $e('CA'), null, null);
        $db->real_connect($e('HOST'), $e('SHA2_USER'), $e('PASSWORD'), $e('DB'), (int) $e('PORT'), null, $tls ? MYSQLI_CLIENT_SSL : 0);
        if (count($db->query(GROUP)->fetch_all()) !== 4) {
            return 'no groups';
        }
    }
    return true;
});

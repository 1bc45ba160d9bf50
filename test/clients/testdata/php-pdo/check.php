<?php
$e = fn(string $name) => getenv("SCRIM_$name");
const GROUP = 'SELECT dept, AVG(amount) AS a, COUNT(*) AS n FROM people GROUP BY dept ORDER BY dept';
const TITLE = 'Zoë — 日本 😀';
ini_set('serialize_precision', '17');

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

/** @param bool $emulate parameters are put into the text by the driver */
function connect(bool $emulate, array $options = []): PDO {
    global $e;
    $db = new PDO("mysql:host={$e('HOST')};port={$e('PORT')};dbname={$e('DB')};charset=utf8mb4", $e('USER'), $e('PASSWORD'), $options);
    $db->setAttribute(PDO::ATTR_EMULATE_PREPARES, $emulate);
    return $db;
}

function ask(PDO $db, string $sql, array $values = []): array {
    $s = $db->prepare($sql);
    foreach ($values as $name => $v) {
        $s->bindValue($name, $v, is_int($v) ? PDO::PARAM_INT : PDO::PARAM_STR);
    }
    $s->execute();
    return $s->fetchAll(PDO::FETCH_NUM);
}

const PREPARED = 'SELECT id, price FROM products WHERE id <= :n ORDER BY id';
const TEXT = 'SELECT title FROM products WHERE title = :t';
$db = connect(false);
check('connect', fn() => $db->getAttribute(PDO::ATTR_SERVER_VERSION));
check('list', fn() => array_column(ask($db, 'SHOW TABLES'), 0));
check('describe', fn() => array_map(fn($r) => array_slice($r, 0, 2), ask($db, 'DESCRIBE people')));
check('group', fn() => ask($db, GROUP));
check('public', fn() => ask($db, 'SELECT id, price FROM products WHERE id <= 3 ORDER BY id'));
check('prepared', fn() => ask($db, PREPARED, ['n' => 3]));
check('text', fn() => ask($db, TEXT, ['t' => TITLE])[0][0]);
check('error', fn() => refused(fn() => ask($db, 'SELECT * FROM people')));

check('extra:parameters in the text', fn() => ask($c = connect(true), PREPARED, ['n' => 3]) == ask($db, PREPARED, ['n' => 3]) && ask($c, TEXT, ['t' => TITLE])[0][0] === TITLE);
check('extra:the same answer in both modes', fn() => array_column(ask(connect(true), GROUP), 1) == array_column(ask($db, GROUP), 1));
check('extra:column metadata', function () use ($db) {
    $m = ($s = $db->query(GROUP))->getColumnMeta(1);
    return [$m['native_type'], $m['precision'], $s->getColumnMeta(2)['native_type']] === ['NEWDECIMAL', 6, 'LONGLONG'] ?: $m;
});
check('extra:rows as they come', function () {
    $c = connect(false, [PDO::MYSQL_ATTR_USE_BUFFERED_QUERY => false]);
    return count(ask($c, 'SELECT id FROM products')) === 1000;
});
check('extra:several statements', function () {
    $s = connect(true)->query('SELECT 1; SELECT 2');
    $first = $s->fetchColumn();
    return $s->nextRowset() && [$first, $s->fetchColumn()] == [1, 2];
});
check('extra:transaction', fn() => $db->beginTransaction() && ask($db, GROUP) && $db->commit());
check('extra:error number and state', function () use ($db) {
    try {
        ask($db, 'SELECT nothing FROM products');
    } catch (PDOException $x) {
        return [$x->getCode(), $x->errorInfo[1]] === ['42S22', 1054] ?: $x->getMessage();
    }
});
check('extra:TLS', function () use ($e) {
    $c = connect(false, [PDO::MYSQL_ATTR_SSL_CA => $e('CA'), PDO::MYSQL_ATTR_SSL_VERIFY_SERVER_CERT => true]);
    return ask($c, "SHOW SESSION STATUS LIKE 'Ssl_cipher'")[0][1] !== '';
});

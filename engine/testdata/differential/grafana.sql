-- Grafana: macros become buckets of UNIX_TIMESTAMP and ranges of FROM_UNIXTIME; quoted aliases name the columns.

-- a minute
SELECT UNIX_TIMESTAMP(placed) DIV 60 * 60 AS "time", count(*) AS "n", avg(amount) AS "avg amount" FROM orders WHERE placed BETWEEN FROM_UNIXTIME(1704067200) AND FROM_UNIXTIME(1746057600) GROUP BY 1 ORDER BY UNIX_TIMESTAMP(placed) DIV 60 * 60;

-- five minutes
SELECT UNIX_TIMESTAMP(placed) DIV 300 * 300 AS "time", count(*) AS "n", avg(amount) AS "avg amount" FROM orders WHERE placed BETWEEN FROM_UNIXTIME(1704067200) AND FROM_UNIXTIME(1746057600) GROUP BY 1 ORDER BY UNIX_TIMESTAMP(placed) DIV 300 * 300;

-- an hour
SELECT UNIX_TIMESTAMP(placed) DIV 3600 * 3600 AS "time", count(*) AS "n", avg(amount) AS "avg amount" FROM orders WHERE placed BETWEEN FROM_UNIXTIME(1704067200) AND FROM_UNIXTIME(1746057600) GROUP BY 1 ORDER BY UNIX_TIMESTAMP(placed) DIV 3600 * 3600;

-- six hours
SELECT UNIX_TIMESTAMP(placed) DIV 21600 * 21600 AS "time", count(*) AS "n", avg(amount) AS "avg amount" FROM orders WHERE placed BETWEEN FROM_UNIXTIME(1704067200) AND FROM_UNIXTIME(1746057600) GROUP BY 1 ORDER BY UNIX_TIMESTAMP(placed) DIV 21600 * 21600;

-- a day
SELECT UNIX_TIMESTAMP(placed) DIV 86400 * 86400 AS "time", count(*) AS "n", avg(amount) AS "avg amount" FROM orders WHERE placed BETWEEN FROM_UNIXTIME(1704067200) AND FROM_UNIXTIME(1746057600) GROUP BY 1 ORDER BY UNIX_TIMESTAMP(placed) DIV 86400 * 86400;

-- a week
SELECT UNIX_TIMESTAMP(placed) DIV 604800 * 604800 AS "time", count(*) AS "n", avg(amount) AS "avg amount" FROM orders WHERE placed BETWEEN FROM_UNIXTIME(1704067200) AND FROM_UNIXTIME(1746057600) GROUP BY 1 ORDER BY UNIX_TIMESTAMP(placed) DIV 604800 * 604800;


SELECT UNIX_TIMESTAMP(placed) DIV 86400 * 86400 AS "time", status AS metric, sum(amount) AS value FROM orders WHERE placed BETWEEN FROM_UNIXTIME(1704067200) AND FROM_UNIXTIME(1746057600) GROUP BY 1, 2 ORDER BY 1, 2;
SELECT cast(cast(UNIX_TIMESTAMP(placed)/(3600) as signed)*3600 as signed) as time_sec, count(*) as value FROM orders GROUP BY 1 ORDER BY 1 ASC;
SELECT FLOOR(UNIX_TIMESTAMP(placed)/3600)*3600 as time_sec, count(*) as value FROM orders GROUP BY time_sec ORDER BY time_sec;
SELECT status AS metric, count(*) AS value FROM orders WHERE UNIX_TIMESTAMP(placed) >= 1704067200 AND UNIX_TIMESTAMP(placed) <= 1746057600 GROUP BY status ORDER BY status;
SELECT status AS metric, count(*) AS value FROM orders WHERE placed >= FROM_UNIXTIME(1704067200) AND placed <= FROM_UNIXTIME(1746057600) GROUP BY metric ORDER BY metric;
SELECT min(n) AS lowest, max(n) AS highest FROM (SELECT status, count(*) AS n FROM orders GROUP BY status) x;
SELECT count(*) as value FROM orders WHERE placed > '2024-06-01T00:00:00Z';
SELECT 'all' as metric, count(*) as value FROM orders;
-- the values of a variable
SELECT DISTINCT status FROM orders;
SELECT DISTINCT status FROM orders ORDER BY status;
SELECT DISTINCT channel FROM orders WHERE status IN ('open','paid') ORDER BY 1;
SELECT status AS __text, status AS __value FROM orders GROUP BY status;
-- the table panel of the query builder
SELECT status, COUNT(id) FROM shop.orders GROUP BY status LIMIT 50;
SELECT AVG(amount), status FROM shop.orders WHERE status = 'paid' GROUP BY status LIMIT 50;
-- @refused 45002 rows
SELECT * FROM shop.orders ORDER BY id LIMIT 50;
-- annotations
-- @refused 45002 rows
SELECT placed as time, status as text, channel as tags FROM orders WHERE placed BETWEEN FROM_UNIXTIME(1704067200) AND FROM_UNIXTIME(1706745600) ORDER BY id;

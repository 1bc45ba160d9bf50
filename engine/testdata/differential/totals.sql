-- Totals of pivot tables: WITH ROLLUP, whose levels are releases of their own on protected rows. MariaDB has no GROUPING().

SELECT status, COUNT(*) AS n FROM shop.orders GROUP BY status WITH ROLLUP;
-- @within 1e-3
SELECT status, SUM(amount) AS revenue, AVG(amount) AS mean FROM shop.orders GROUP BY status WITH ROLLUP;
SELECT status, channel, COUNT(*) AS n FROM shop.orders GROUP BY status, channel WITH ROLLUP;
-- @within 1e-3
SELECT status, channel, SUM(qty) AS pieces FROM shop.orders WHERE qty > 2 GROUP BY status, channel WITH ROLLUP;
SELECT status, COUNT(*) AS n FROM shop.orders GROUP BY status WITH ROLLUP HAVING COUNT(*) > 10;
SELECT COALESCE(status, 'all') AS status, SUM(qty) AS pieces FROM shop.orders GROUP BY status WITH ROLLUP;
SELECT IFNULL(t.status, 'all') AS s, t.n FROM (SELECT status, COUNT(*) AS n FROM shop.orders GROUP BY status WITH ROLLUP) t;
SELECT status, COUNT(DISTINCT customer_id) AS customers FROM shop.orders GROUP BY status WITH ROLLUP;
SELECT YEAR(placed) AS y, COUNT(*) AS n FROM shop.orders GROUP BY YEAR(placed) WITH ROLLUP;
SELECT status, SUM(CASE WHEN channel = 'web' THEN 1 ELSE 0 END) AS web, SUM(amount) / COUNT(*) AS mean FROM shop.orders GROUP BY status WITH ROLLUP;
SELECT COUNT(*) AS n FROM (SELECT status, SUM(qty) AS q FROM shop.orders GROUP BY status WITH ROLLUP) t;

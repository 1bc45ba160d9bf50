-- Window functions over groups, in one SELECT: shares, ranks and running totals of released rows.

SELECT status, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS r, COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM shop.orders GROUP BY status ORDER BY n DESC, status;
SELECT status, COUNT(*), SUM(COUNT(*)) OVER () FROM shop.orders GROUP BY status;
-- @within 1e-3
SELECT YEAR(placed) AS y, SUM(amount) AS revenue, SUM(SUM(amount)) OVER (ORDER BY YEAR(placed)) AS running FROM shop.orders GROUP BY YEAR(placed) ORDER BY y;
SELECT status, channel, COUNT(*) AS n, ROW_NUMBER() OVER (PARTITION BY status ORDER BY COUNT(*) DESC, channel) AS r FROM shop.orders GROUP BY status, channel HAVING n > 3;
SELECT YEAR(placed) + 1 AS y, SUM(qty) - LAG(SUM(qty)) OVER (ORDER BY YEAR(placed)) AS more FROM shop.orders GROUP BY YEAR(placed);
SELECT status, COUNT(*) AS n, DENSE_RANK() OVER w AS r, FIRST_VALUE(status) OVER w AS f FROM shop.orders GROUP BY 1 WINDOW w AS (ORDER BY COUNT(*), status) ORDER BY SUM(qty) DESC LIMIT 2;
SELECT COUNT(*) AS n, SUM(COUNT(*)) OVER () AS s FROM shop.orders;
SELECT status FROM shop.orders GROUP BY status ORDER BY RANK() OVER (ORDER BY COUNT(*));
SELECT DISTINCT COUNT(*) OVER () AS groups_ FROM shop.orders GROUP BY status;
SELECT o.status, SUM(o.qty) / SUM(SUM(o.qty)) OVER (PARTITION BY c.region) AS share, c.region FROM shop.orders o JOIN shop.customers c ON c.id = o.customer_id GROUP BY o.status, c.region;
WITH q AS (SELECT channel, SUM(qty) AS pieces, ROW_NUMBER() OVER (ORDER BY SUM(qty) DESC) AS r FROM shop.orders GROUP BY channel) SELECT channel, pieces FROM q WHERE r <= 2;

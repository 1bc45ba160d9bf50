-- SQLAlchemy and pandas: label names with numbers, anonymous subqueries, read_sql and read_sql_table.

SELECT count(*) AS count_1 FROM orders;
SELECT count(orders.id) AS count_1 FROM orders;
SELECT orders.status, count(*) AS count_1, avg(orders.amount) AS avg_1
FROM orders GROUP BY orders.status ORDER BY count_1 DESC, orders.status;
SELECT anon_1.status, sum(anon_1.amount) AS sum_1
FROM (SELECT orders.status AS status, orders.amount AS amount
FROM orders
WHERE orders.qty > 2) AS anon_1 GROUP BY anon_1.status;
SELECT count(*) AS count_1
FROM (SELECT orders.status AS orders_status, count(*) AS n
FROM orders GROUP BY orders.status) AS anon_1;
SELECT EXTRACT(year FROM orders.placed) AS anon_1, EXTRACT(quarter FROM orders.placed) AS anon_2, sum(orders.amount) AS sum_1
FROM orders GROUP BY EXTRACT(year FROM orders.placed), EXTRACT(quarter FROM orders.placed) ORDER BY anon_1, anon_2;
SELECT sum(CASE WHEN (orders.status = 'paid') THEN 1 ELSE 0 END) AS sum_1, count(*) AS count_1
FROM orders;
SELECT orders.status, sum(CASE WHEN (orders.channel IS NULL) THEN 1 ELSE 0 END) / count(*) AS share
FROM orders GROUP BY orders.status HAVING count(*) > 20;
SELECT customers.region, count(distinct(orders.customer_id)) AS count_1
FROM orders INNER JOIN customers ON customers.id = orders.customer_id GROUP BY customers.region;
SELECT customers.region, avg(orders.amount) AS avg_1
FROM customers LEFT OUTER JOIN orders ON customers.id = orders.customer_id GROUP BY customers.region
 LIMIT 10;
SELECT orders.status, orders.channel, count(*) AS n
FROM orders GROUP BY orders.status, orders.channel ORDER BY n DESC, orders.status, orders.channel
 LIMIT 2, 5;
SELECT coalesce(orders.channel, 'none') AS c, count(*) AS n FROM orders GROUP BY coalesce(orders.channel, 'none') ORDER BY c;
SELECT CAST(avg(orders.amount) AS DECIMAL(10, 2)) AS a FROM orders;
SELECT round(avg(orders.amount), 1) AS a, floor(sum(orders.qty)) AS b FROM orders;
WITH t AS
(SELECT orders.status AS status, count(*) AS n
FROM orders GROUP BY orders.status)
SELECT t.status, t.n FROM t WHERE t.n > 300 ORDER BY t.status;
WITH a AS (SELECT status, COUNT(*) AS n FROM orders GROUP BY status), b AS (SELECT SUM(n) AS total FROM a)
SELECT a.status, a.n / b.total AS share FROM a, b ORDER BY a.status;
SELECT orders.status AS k, count(*) AS n FROM orders GROUP BY orders.status UNION ALL SELECT 'all' AS k, count(*) AS n FROM orders;
SELECT 'customers' AS t, count(*) AS n FROM customers UNION ALL SELECT 'orders' AS t, count(*) AS n FROM orders;
SELECT 1 FROM orders LIMIT 0;
SELECT * FROM orders WHERE false;
SELECT * FROM orders WHERE 1 = 0;
SELECT products.id, products.title FROM products ORDER BY products.id LIMIT 5;
SELECT products.category, count(*) AS n, avg(products.price) AS p FROM products GROUP BY products.category ORDER BY products.category;
-- read_sql_table, head()
-- @refused 45002 rows
SELECT orders.id, orders.customer_id, orders.status FROM orders ORDER BY orders.id;
-- @refused 45002 rows
SELECT * FROM orders ORDER BY id LIMIT 10;
-- @refused 45002 rows
SELECT orders.amount FROM orders WHERE orders.id = 7;

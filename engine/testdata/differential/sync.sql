-- What synchronisation jobs and filter lists ask: the ends and the values of columns. On protected tables what is declared is told, or a
-- refusal says what to write.

-- the ends of columns with a declared range are those of the range
-- @expect the declared range
-- | MIN(age) | MAX(age)
-- | 18 | 79
-- @private the data's ends are others
SELECT MIN(age), MAX(age) FROM customers;
-- @expect the declared range
-- | lo | hi
-- | 0.00 | 4096.00
-- @private the data's ends are others
SELECT MIN(amount) AS lo, MAX(amount) AS hi FROM orders;
-- @expect the declared values
-- | min(placed) | max(placed)
-- | 2023-12-31 23:59:59 | 2025-02-01 10:00:00
-- @private
select min(placed), max(placed) from orders;
-- @refused 45005 GROUP BY
SELECT MIN(name), MAX(name) FROM customers;
SELECT COUNT(DISTINCT status) FROM orders;
SELECT COUNT(*) AS n FROM (SELECT status FROM orders GROUP BY status) x;
SELECT DISTINCT region FROM customers;
SELECT DISTINCT (region) FROM customers ORDER BY 1;
SELECT DISTINCT region, segment FROM customers ORDER BY region, segment;
SELECT DISTINCT city FROM customers ORDER BY city;
SELECT DISTINCT YEAR(placed) AS y FROM orders ORDER BY y;
SELECT DISTINCT status FROM orders WHERE status IN ('paid', 'open') ORDER BY status DESC;
SELECT DISTINCT status FROM orders ORDER BY status LIMIT 2;
SELECT region FROM customers GROUP BY region ORDER BY region;
SELECT channel, status FROM orders GROUP BY channel, status ORDER BY channel, status;
-- @refused 45002 person
SELECT DISTINCT customer_id FROM orders;
-- @refused 45002 rows
SELECT * FROM customers ORDER BY id LIMIT 10;
-- @refused 45002 rows
SELECT name FROM customers ORDER BY id LIMIT 1;
-- @refused 45002 rows
SELECT 1 FROM orders LIMIT 1;
SELECT 1 FROM orders LIMIT 0;
SELECT TRUE AS `_` FROM `orders` WHERE 1 <> 1 LIMIT 0;
SELECT * FROM customers WHERE 0 = 1;
SELECT COUNT(*) FROM customers;
SELECT COUNT(1) FROM customers;
SELECT COUNT(id) FROM customers;
SELECT COUNT(balance), COUNT(*) - COUNT(balance) FROM customers;

-- what Cube sends of a time dimension with a range
SELECT CAST(DATE_FORMAT(CONVERT_TZ(`orders`.placed, @@session.time_zone, '+00:00'), '%Y-01-01T00:00:00.000') AS DATETIME) `orders__placed_year`, count(`orders`.id) `orders__count` FROM orders AS `orders` WHERE (`orders`.placed >= TIMESTAMP(convert_tz('2010-01-01T00:00:00.000', '+00:00', @@session.time_zone)) AND `orders`.placed <= TIMESTAMP(convert_tz('2024-12-31T23:59:59.999', '+00:00', @@session.time_zone))) GROUP BY 1 ORDER BY 1 ASC LIMIT 10000;
SELECT status, COUNT(*) n, IF(0=1,'all',status) w FROM orders GROUP BY status HAVING n>=1;
-- the number of values that are declared, or that enough persons share
SELECT COUNT(*) FROM (SELECT city FROM customers GROUP BY city) k;

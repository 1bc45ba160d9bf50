-- Superset: a chart is GROUP BY over a table or over the text of a data set (virtual_table); time grains are expressions of dates.

-- the second
SELECT DATE_ADD(DATE(placed), INTERVAL (HOUR(placed)*60*60 + MINUTE(placed)*60 + SECOND(placed)) SECOND) AS `__timestamp`, COUNT(*) AS `count`, SUM(amount) AS `SUM(amount)` FROM orders GROUP BY DATE_ADD(DATE(placed), INTERVAL (HOUR(placed)*60*60 + MINUTE(placed)*60 + SECOND(placed)) SECOND) ORDER BY `count` DESC, `__timestamp` LIMIT 10000;

-- the minute
SELECT DATE_ADD(DATE(placed), INTERVAL (HOUR(placed)*60 + MINUTE(placed)) MINUTE) AS `__timestamp`, COUNT(*) AS `count`, SUM(amount) AS `SUM(amount)` FROM orders GROUP BY DATE_ADD(DATE(placed), INTERVAL (HOUR(placed)*60 + MINUTE(placed)) MINUTE) ORDER BY `count` DESC, `__timestamp` LIMIT 10000;

-- the hour
SELECT DATE_ADD(DATE(placed), INTERVAL HOUR(placed) HOUR) AS `__timestamp`, COUNT(*) AS `count`, SUM(amount) AS `SUM(amount)` FROM orders GROUP BY DATE_ADD(DATE(placed), INTERVAL HOUR(placed) HOUR) ORDER BY `count` DESC, `__timestamp` LIMIT 10000;

-- the day
SELECT DATE(placed) AS `__timestamp`, COUNT(*) AS `count`, SUM(amount) AS `SUM(amount)` FROM orders GROUP BY DATE(placed) ORDER BY `count` DESC, `__timestamp` LIMIT 10000;

-- the week that begins on Sunday
SELECT DATE(DATE_SUB(placed, INTERVAL DAYOFWEEK(placed) - 1 DAY)) AS `__timestamp`, COUNT(*) AS `count`, SUM(amount) AS `SUM(amount)` FROM orders GROUP BY DATE(DATE_SUB(placed, INTERVAL DAYOFWEEK(placed) - 1 DAY)) ORDER BY `count` DESC, `__timestamp` LIMIT 10000;

-- the month
SELECT DATE(DATE_SUB(placed, INTERVAL DAYOFMONTH(placed) - 1 DAY)) AS `__timestamp`, COUNT(*) AS `count`, SUM(amount) AS `SUM(amount)` FROM orders GROUP BY DATE(DATE_SUB(placed, INTERVAL DAYOFMONTH(placed) - 1 DAY)) ORDER BY `count` DESC, `__timestamp` LIMIT 10000;

-- the quarter
SELECT MAKEDATE(YEAR(placed), 1) + INTERVAL QUARTER(placed) QUARTER - INTERVAL 1 QUARTER AS `__timestamp`, COUNT(*) AS `count`, SUM(amount) AS `SUM(amount)` FROM orders GROUP BY MAKEDATE(YEAR(placed), 1) + INTERVAL QUARTER(placed) QUARTER - INTERVAL 1 QUARTER ORDER BY `count` DESC, `__timestamp` LIMIT 10000;

-- the year
SELECT DATE(DATE_SUB(placed, INTERVAL DAYOFYEAR(placed) - 1 DAY)) AS `__timestamp`, COUNT(*) AS `count`, SUM(amount) AS `SUM(amount)` FROM orders GROUP BY DATE(DATE_SUB(placed, INTERVAL DAYOFYEAR(placed) - 1 DAY)) ORDER BY `count` DESC, `__timestamp` LIMIT 10000;

-- the week that begins on Monday
SELECT DATE(DATE_SUB(placed, INTERVAL DAYOFWEEK(DATE_SUB(placed, INTERVAL 1 DAY)) - 1 DAY)) AS `__timestamp`, COUNT(*) AS `count`, SUM(amount) AS `SUM(amount)` FROM orders GROUP BY DATE(DATE_SUB(placed, INTERVAL DAYOFWEEK(DATE_SUB(placed, INTERVAL 1 DAY)) - 1 DAY)) ORDER BY `count` DESC, `__timestamp` LIMIT 10000;


SELECT status AS status, AVG(amount) AS `AVG(amount)` FROM shop.orders GROUP BY status ORDER BY `AVG(amount)` DESC LIMIT 100;
SELECT status AS status, channel AS channel, COUNT(*) AS count FROM shop.orders GROUP BY status, channel ORDER BY count DESC, status, channel LIMIT 1000;
-- the text of a data set
SELECT status AS status, sum(qty) AS `SUM(qty)` FROM (SELECT status, qty, amount FROM orders WHERE amount > 100) AS virtual_table GROUP BY status ORDER BY `SUM(qty)` DESC LIMIT 100;
SELECT virtual_table.region AS region, COUNT(*) AS n FROM (select * from customers where age >= 30) AS virtual_table GROUP BY region ORDER BY n DESC, region LIMIT 50;
SELECT DATE(placed) AS __timestamp, status AS status, count(*) AS count FROM (SELECT * FROM orders) AS virtual_table WHERE placed >= STR_TO_DATE('2024-01-01 00:00:00.000000', '%Y-%m-%d %H:%i:%s.%f') AND placed < STR_TO_DATE('2025-01-01 00:00:00.000000', '%Y-%m-%d %H:%i:%s.%f') GROUP BY DATE(placed), status ORDER BY count DESC, __timestamp, status LIMIT 10000;
SELECT COUNT(*) AS `count` FROM orders WHERE shipped >= STR_TO_DATE('2025-03-02', '%Y-%m-%d') AND shipped < STR_TO_DATE('2025-03-04', '%Y-%m-%d') LIMIT 50000;
SELECT count(DISTINCT customer_id) AS `COUNT_DISTINCT(customer_id)` FROM orders WHERE status IN ('paid', 'shipped') LIMIT 50000;
-- a big number with a trend
SELECT DATE(DATE_SUB(placed, INTERVAL DAYOFMONTH(placed) - 1 DAY)) AS __timestamp, sum(amount) / COUNT(*) AS `ratio` FROM orders GROUP BY DATE(DATE_SUB(placed, INTERVAL DAYOFMONTH(placed) - 1 DAY)) ORDER BY __timestamp LIMIT 50000;
-- a limit on the number of series: two releases
SELECT DATE(placed) AS __timestamp, status AS status, count(*) AS count FROM orders JOIN (SELECT status AS status__, count(*) AS mme_inner__ FROM orders GROUP BY status ORDER BY mme_inner__ DESC, status LIMIT 2) AS series_limit ON status = status__ GROUP BY DATE(placed), status ORDER BY count DESC, __timestamp, status LIMIT 10000;
SELECT DATE(placed) AS __timestamp, channel AS channel, SUM(amount) AS s FROM orders INNER JOIN (SELECT channel AS channel__, SUM(amount) AS mme_inner__ FROM orders WHERE placed >= '2024-01-01' GROUP BY channel ORDER BY mme_inner__ DESC LIMIT 2) AS anon_1 ON channel = channel__ WHERE placed >= '2024-01-01' GROUP BY DATE(placed), channel ORDER BY __timestamp, channel;
-- the values of a filter, and the ends of a range filter
SELECT status AS status FROM orders GROUP BY status ORDER BY status ASC LIMIT 1000;
SELECT DISTINCT status AS status FROM orders LIMIT 1000;
-- @refused 45002 rows
SELECT id AS id, amount AS amount FROM orders ORDER BY id LIMIT 100;
-- Explore's sample
-- @refused 45002 rows
SELECT * FROM orders ORDER BY id LIMIT 1001;
-- percentages, pivot tables
SELECT region AS region, segment AS segment, AVG(age) AS `AVG(age)` FROM customers GROUP BY region, segment ORDER BY `AVG(age)` DESC, region, segment LIMIT 10000;
SELECT channel AS channel, sum(CASE WHEN status = 'paid' THEN 1 ELSE 0 END) / count(*) AS paid_share FROM orders GROUP BY channel HAVING count(*) > 100 ORDER BY paid_share DESC LIMIT 100;
SELECT status, SUM(amount) AS a, SUM(qty) AS b, SUM(amount) / NULLIF(SUM(qty), 0) AS `price per piece` FROM orders GROUP BY status ORDER BY `price per piece` DESC;

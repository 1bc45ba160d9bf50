-- Metabase: the breakouts of its query builder, wrapped as source where a step follows, and what its sync sends.

-- the minute
SELECT STR_TO_DATE(DATE_FORMAT(`orders`.`placed`, '%Y-%m-%d %H:%i'), '%Y-%m-%d %H:%i') AS `placed`, COUNT(*) AS `count`, AVG(`orders`.`amount`) AS `avg` FROM `orders` GROUP BY STR_TO_DATE(DATE_FORMAT(`orders`.`placed`, '%Y-%m-%d %H:%i'), '%Y-%m-%d %H:%i') ORDER BY STR_TO_DATE(DATE_FORMAT(`orders`.`placed`, '%Y-%m-%d %H:%i'), '%Y-%m-%d %H:%i') ASC;

-- the hour
SELECT STR_TO_DATE(DATE_FORMAT(`orders`.`placed`, '%Y-%m-%d %H'), '%Y-%m-%d %H') AS `placed`, COUNT(*) AS `count`, AVG(`orders`.`amount`) AS `avg` FROM `orders` GROUP BY STR_TO_DATE(DATE_FORMAT(`orders`.`placed`, '%Y-%m-%d %H'), '%Y-%m-%d %H') ORDER BY STR_TO_DATE(DATE_FORMAT(`orders`.`placed`, '%Y-%m-%d %H'), '%Y-%m-%d %H') ASC;

-- the day
SELECT DATE(`orders`.`placed`) AS `placed`, COUNT(*) AS `count`, AVG(`orders`.`amount`) AS `avg` FROM `orders` GROUP BY DATE(`orders`.`placed`) ORDER BY DATE(`orders`.`placed`) ASC;

-- the day, as a cast
SELECT CAST(`orders`.`placed` AS date) AS `placed`, COUNT(*) AS `count`, AVG(`orders`.`amount`) AS `avg` FROM `orders` GROUP BY CAST(`orders`.`placed` AS date) ORDER BY CAST(`orders`.`placed` AS date) ASC;

-- the week
SELECT STR_TO_DATE(CONCAT(YEARWEEK(`orders`.`placed`), ' Sunday'), '%X%V %W') AS `placed`, COUNT(*) AS `count`, AVG(`orders`.`amount`) AS `avg` FROM `orders` GROUP BY STR_TO_DATE(CONCAT(YEARWEEK(`orders`.`placed`), ' Sunday'), '%X%V %W') ORDER BY STR_TO_DATE(CONCAT(YEARWEEK(`orders`.`placed`), ' Sunday'), '%X%V %W') ASC;

-- the month
-- @within 1e-2
SELECT STR_TO_DATE(CONCAT(DATE_FORMAT(`orders`.`placed`, '%Y-%m'), '-01'), '%Y-%m-%d') AS `placed`, COUNT(*) AS `count`, AVG(`orders`.`amount`) AS `avg` FROM `orders` GROUP BY STR_TO_DATE(CONCAT(DATE_FORMAT(`orders`.`placed`, '%Y-%m'), '-01'), '%Y-%m-%d') ORDER BY STR_TO_DATE(CONCAT(DATE_FORMAT(`orders`.`placed`, '%Y-%m'), '-01'), '%Y-%m-%d') ASC;

-- the quarter
SELECT STR_TO_DATE(CONCAT(YEAR(`orders`.`placed`), '-', ((QUARTER(`orders`.`placed`) * 3) - 2), '-01'), '%Y-%m-%d') AS `placed`, COUNT(*) AS `count`, AVG(`orders`.`amount`) AS `avg` FROM `orders` GROUP BY STR_TO_DATE(CONCAT(YEAR(`orders`.`placed`), '-', ((QUARTER(`orders`.`placed`) * 3) - 2), '-01'), '%Y-%m-%d') ORDER BY STR_TO_DATE(CONCAT(YEAR(`orders`.`placed`), '-', ((QUARTER(`orders`.`placed`) * 3) - 2), '-01'), '%Y-%m-%d') ASC;

-- the year
-- @within 1e-3
SELECT MAKEDATE(YEAR(`orders`.`placed`), 1) AS `placed`, COUNT(*) AS `count`, AVG(`orders`.`amount`) AS `avg` FROM `orders` GROUP BY MAKEDATE(YEAR(`orders`.`placed`), 1) ORDER BY MAKEDATE(YEAR(`orders`.`placed`), 1) ASC;

-- the year, in newer versions
-- @within 1e-3
SELECT STR_TO_DATE(CONCAT(DATE_FORMAT(`orders`.`placed`, '%Y'), '-01-01'), '%Y-%m-%d') AS `placed`, COUNT(*) AS `count`, AVG(`orders`.`amount`) AS `avg` FROM `orders` GROUP BY STR_TO_DATE(CONCAT(DATE_FORMAT(`orders`.`placed`, '%Y'), '-01-01'), '%Y-%m-%d') ORDER BY STR_TO_DATE(CONCAT(DATE_FORMAT(`orders`.`placed`, '%Y'), '-01-01'), '%Y-%m-%d') ASC;

-- the hour of the day
SELECT HOUR(`orders`.`placed`) AS `placed`, COUNT(*) AS `count`, AVG(`orders`.`amount`) AS `avg` FROM `orders` GROUP BY HOUR(`orders`.`placed`) ORDER BY HOUR(`orders`.`placed`) ASC;

-- the minute of the hour
SELECT MINUTE(`orders`.`placed`) AS `placed`, COUNT(*) AS `count`, AVG(`orders`.`amount`) AS `avg` FROM `orders` GROUP BY MINUTE(`orders`.`placed`) ORDER BY MINUTE(`orders`.`placed`) ASC;

-- the day of the week
SELECT DAYOFWEEK(`orders`.`placed`) AS `placed`, COUNT(*) AS `count`, AVG(`orders`.`amount`) AS `avg` FROM `orders` GROUP BY DAYOFWEEK(`orders`.`placed`) ORDER BY DAYOFWEEK(`orders`.`placed`) ASC;

-- the day of the month
SELECT DAYOFMONTH(`orders`.`placed`) AS `placed`, COUNT(*) AS `count`, AVG(`orders`.`amount`) AS `avg` FROM `orders` GROUP BY DAYOFMONTH(`orders`.`placed`) ORDER BY DAYOFMONTH(`orders`.`placed`) ASC;

-- the day of the year
SELECT DAYOFYEAR(`orders`.`placed`) AS `placed`, COUNT(*) AS `count`, AVG(`orders`.`amount`) AS `avg` FROM `orders` GROUP BY DAYOFYEAR(`orders`.`placed`) ORDER BY DAYOFYEAR(`orders`.`placed`) ASC;

-- the week of the year
SELECT (WEEK(`orders`.`placed`, 6)) AS `placed`, COUNT(*) AS `count`, AVG(`orders`.`amount`) AS `avg` FROM `orders` GROUP BY (WEEK(`orders`.`placed`, 6)) ORDER BY (WEEK(`orders`.`placed`, 6)) ASC;

-- the month of the year
SELECT MONTH(`orders`.`placed`) AS `placed`, COUNT(*) AS `count`, AVG(`orders`.`amount`) AS `avg` FROM `orders` GROUP BY MONTH(`orders`.`placed`) ORDER BY MONTH(`orders`.`placed`) ASC;

-- the quarter of the year
-- @within 2e-3
SELECT QUARTER(`orders`.`placed`) AS `placed`, COUNT(*) AS `count`, AVG(`orders`.`amount`) AS `avg` FROM `orders` GROUP BY QUARTER(`orders`.`placed`) ORDER BY QUARTER(`orders`.`placed`) ASC;


SELECT `orders`.`status` AS `status`, COUNT(*) AS `count` FROM `orders` GROUP BY `orders`.`status` ORDER BY `orders`.`status` ASC;
SELECT `shop`.`orders`.`status` AS `status`, SUM(`shop`.`orders`.`amount`) AS `sum` FROM `shop`.`orders` GROUP BY `shop`.`orders`.`status` ORDER BY `sum` DESC, `shop`.`orders`.`status` ASC;
SELECT SUM(CASE WHEN `orders`.`status` = 'paid' THEN 1 ELSE 0.0 END) AS `count-where` FROM `orders`;
SELECT CAST(SUM(CASE WHEN `orders`.`amount` > 500 THEN 1 ELSE 0.0 END) AS DOUBLE) / NULLIF(COUNT(*), 0) AS `share` FROM `orders`;
SELECT AVG(CASE WHEN `orders`.`channel` IS NULL THEN 1 ELSE 0.0 END) AS `share` FROM `orders`;
SELECT SUM(CASE WHEN `orders`.`status` = 'paid' THEN `orders`.`amount` ELSE 0.0 END) AS `sum-where` FROM `orders`;
SELECT COUNT(DISTINCT `orders`.`customer_id`) AS `count` FROM `orders` WHERE (`orders`.`status` <> 'open' OR `orders`.`status` IS NULL);
SELECT `source`.`status` AS `status`, COUNT(*) AS `count` FROM (SELECT `orders`.`id` AS `id`, `orders`.`status` AS `status`, `orders`.`amount` AS `amount` FROM `orders`) AS `source` WHERE `source`.`amount` > 250 GROUP BY `source`.`status` ORDER BY `source`.`status` ASC;
SELECT `source`.`status` AS `status`, `source`.`count` AS `count` FROM (SELECT `orders`.`status` AS `status`, COUNT(*) AS `count` FROM `orders` GROUP BY `orders`.`status` ORDER BY `orders`.`status` ASC) AS `source` WHERE `source`.`count` > 10 ORDER BY `source`.`status` LIMIT 1048575;
-- bins
SELECT (FLOOR(((`customers`.`age` - 10.0) / 10.0)) * 10.0) + 10.0 AS `age`, COUNT(*) AS `count` FROM `customers` GROUP BY (FLOOR(((`customers`.`age` - 10.0) / 10.0)) * 10.0) + 10.0 ORDER BY (FLOOR(((`customers`.`age` - 10.0) / 10.0)) * 10.0) + 10.0 ASC;
-- a join with a public table
-- @missing the join may find nothing, so that NULL is a public key
SELECT `Products`.`category` AS `Products__category`, SUM(`orders`.`qty`) AS `sum` FROM `orders` LEFT JOIN `products` AS `Products` ON `orders`.`product_id` = `Products`.`id` GROUP BY `Products`.`category` ORDER BY `Products`.`category` ASC;
-- a join of two tables of the same persons
SELECT `Customers`.`region` AS `Customers__region`, AVG(`orders`.`amount`) AS `avg` FROM `orders` INNER JOIN `customers` AS `Customers` ON `orders`.`customer_id` = `Customers`.`id` GROUP BY `Customers`.`region` ORDER BY `Customers`.`region` ASC;
SELECT STDDEV_POP(`orders`.`amount`) AS `stddev` FROM `orders`;
SELECT COUNT(*) AS `count` FROM `orders` WHERE `orders`.`placed` >= DATE('2024-06-01') AND `orders`.`placed` < DATE('2025-01-01');
SELECT COUNT(*) AS `count` FROM `orders` WHERE `orders`.`placed` BETWEEN CONVERT_TZ('2024-06-01 00:00:00.000', '+00:00', @@session.time_zone) AND CONVERT_TZ('2025-01-01 00:00:00.000', '+00:00', @@session.time_zone);
SELECT COUNT(*) AS `count` FROM `customers` WHERE LOWER(`customers`.`city`) LIKE '%ber%';
SELECT COUNT(*) AS `count` FROM `customers` WHERE (`customers`.`city` NOT LIKE 'Os%' OR `customers`.`city` IS NULL);
-- may the account read the table? an error would hide it
SELECT TRUE AS `_` FROM `shop`.`orders` WHERE 1 <> 1 LIMIT 0;
-- the values of a field
SELECT `orders`.`status` AS `status` FROM `orders` GROUP BY `orders`.`status` ORDER BY `orders`.`status` ASC LIMIT 1001;
SELECT `customers`.`city` AS `city` FROM `customers` GROUP BY `customers`.`city` ORDER BY `customers`.`city` ASC LIMIT 1000;
-- fingerprints
-- @refused 45002 rows
SELECT `orders`.`id` AS `id`, SUBSTRING(`orders`.`status`, 1, 1234) AS `substring1`, `orders`.`amount` AS `amount` FROM `orders` ORDER BY `orders`.`id` LIMIT 10000;
-- X-rays
-- @refused 45002 rows
SELECT `orders`.`id` AS `id`, `orders`.`amount` AS `amount` FROM `orders` ORDER BY `orders`.`id` LIMIT 2000;

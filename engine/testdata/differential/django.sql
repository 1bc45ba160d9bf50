-- Django: querysets with values(), annotate() and aggregate(); Trunc and Extract functions.

-- the year
SELECT CAST(DATE_FORMAT(`orders`.`placed`, '%Y-01-01 00:00:00') AS DATETIME) AS `m`, COUNT(`orders`.`id`) AS `n` FROM `orders` GROUP BY CAST(DATE_FORMAT(`orders`.`placed`, '%Y-01-01 00:00:00') AS DATETIME) ORDER BY `m` ASC;

-- the month
SELECT CAST(DATE_FORMAT(`orders`.`placed`, '%Y-%m-01 00:00:00') AS DATETIME) AS `m`, COUNT(`orders`.`id`) AS `n` FROM `orders` GROUP BY CAST(DATE_FORMAT(`orders`.`placed`, '%Y-%m-01 00:00:00') AS DATETIME) ORDER BY `m` ASC;

-- the quarter
SELECT CAST(DATE_FORMAT(MAKEDATE(YEAR(`orders`.`placed`), 1) + INTERVAL QUARTER(`orders`.`placed`) QUARTER - INTERVAL 1 QUARTER, '%Y-%m-01 00:00:00') AS DATETIME) AS `m`, COUNT(`orders`.`id`) AS `n` FROM `orders` GROUP BY CAST(DATE_FORMAT(MAKEDATE(YEAR(`orders`.`placed`), 1) + INTERVAL QUARTER(`orders`.`placed`) QUARTER - INTERVAL 1 QUARTER, '%Y-%m-01 00:00:00') AS DATETIME) ORDER BY `m` ASC;

-- the week
SELECT CAST(DATE_FORMAT(DATE_SUB(`orders`.`placed`, INTERVAL WEEKDAY(`orders`.`placed`) DAY), '%Y-%m-%d 00:00:00') AS DATETIME) AS `m`, COUNT(`orders`.`id`) AS `n` FROM `orders` GROUP BY CAST(DATE_FORMAT(DATE_SUB(`orders`.`placed`, INTERVAL WEEKDAY(`orders`.`placed`) DAY), '%Y-%m-%d 00:00:00') AS DATETIME) ORDER BY `m` ASC;

-- the day
SELECT CAST(DATE_FORMAT(`orders`.`placed`, '%Y-%m-%d 00:00:00') AS DATETIME) AS `m`, COUNT(`orders`.`id`) AS `n` FROM `orders` GROUP BY CAST(DATE_FORMAT(`orders`.`placed`, '%Y-%m-%d 00:00:00') AS DATETIME) ORDER BY `m` ASC;

-- the hour
SELECT CAST(DATE_FORMAT(`orders`.`placed`, '%Y-%m-%d %H:00:00') AS DATETIME) AS `m`, COUNT(`orders`.`id`) AS `n` FROM `orders` GROUP BY CAST(DATE_FORMAT(`orders`.`placed`, '%Y-%m-%d %H:00:00') AS DATETIME) ORDER BY `m` ASC;

-- the minute
SELECT CAST(DATE_FORMAT(`orders`.`placed`, '%Y-%m-%d %H:%i:00') AS DATETIME) AS `m`, COUNT(`orders`.`id`) AS `n` FROM `orders` GROUP BY CAST(DATE_FORMAT(`orders`.`placed`, '%Y-%m-%d %H:%i:00') AS DATETIME) ORDER BY `m` ASC;

-- the second
SELECT CAST(DATE_FORMAT(`orders`.`placed`, '%Y-%m-%d %H:%i:%s') AS DATETIME) AS `m`, COUNT(`orders`.`id`) AS `n` FROM `orders` GROUP BY CAST(DATE_FORMAT(`orders`.`placed`, '%Y-%m-%d %H:%i:%s') AS DATETIME) ORDER BY `m` ASC;

-- the date, of a DateField
SELECT CAST(DATE_FORMAT(`orders`.`placed`, '%Y-%m-01') AS DATE) AS `m`, COUNT(`orders`.`id`) AS `n` FROM `orders` GROUP BY CAST(DATE_FORMAT(`orders`.`placed`, '%Y-%m-01') AS DATE) ORDER BY `m` ASC;

-- the ISO year, extracted
SELECT TRUNCATE(YEARWEEK(`orders`.`placed`, 3), -2) / 100 AS `m`, COUNT(`orders`.`id`) AS `n` FROM `orders` GROUP BY TRUNCATE(YEARWEEK(`orders`.`placed`, 3), -2) / 100 ORDER BY `m` ASC;

-- the ISO week day, extracted
SELECT WEEKDAY(`orders`.`placed`) + 1 AS `m`, COUNT(`orders`.`id`) AS `n` FROM `orders` GROUP BY WEEKDAY(`orders`.`placed`) + 1 ORDER BY `m` ASC;

-- the week, extracted
SELECT WEEK(`orders`.`placed`, 3) AS `m`, COUNT(`orders`.`id`) AS `n` FROM `orders` GROUP BY WEEK(`orders`.`placed`, 3) ORDER BY `m` ASC;

-- the week day, extracted
SELECT DAYOFWEEK(`orders`.`placed`) AS `m`, COUNT(`orders`.`id`) AS `n` FROM `orders` GROUP BY DAYOFWEEK(`orders`.`placed`) ORDER BY `m` ASC;

-- the month, extracted
SELECT EXTRACT(MONTH FROM `orders`.`placed`) AS `m`, COUNT(`orders`.`id`) AS `n` FROM `orders` GROUP BY EXTRACT(MONTH FROM `orders`.`placed`) ORDER BY `m` ASC;

-- the year, extracted
SELECT EXTRACT(YEAR FROM `orders`.`placed`) AS `m`, COUNT(`orders`.`id`) AS `n` FROM `orders` GROUP BY EXTRACT(YEAR FROM `orders`.`placed`) ORDER BY `m` ASC;

-- the hour, extracted
SELECT EXTRACT(HOUR FROM `orders`.`placed`) AS `m`, COUNT(`orders`.`id`) AS `n` FROM `orders` GROUP BY EXTRACT(HOUR FROM `orders`.`placed`) ORDER BY `m` ASC;


SELECT COUNT(*) AS `__count` FROM `orders`;
SELECT COUNT(*) AS `__count` FROM `orders` WHERE `orders`.`status` = 'paid';
SELECT AVG(`orders`.`amount`) AS `amount__avg`, SUM(`orders`.`qty`) AS `qty__sum` FROM `orders`;
SELECT `orders`.`status`, COUNT(`orders`.`id`) AS `n` FROM `orders` GROUP BY `orders`.`status` ORDER BY NULL;
SELECT `orders`.`status`, AVG(`orders`.`amount`) AS `m` FROM `orders` GROUP BY `orders`.`status` HAVING AVG(`orders`.`amount`) > 100 ORDER BY `m` DESC;
SELECT `customers`.`region`, COUNT(`orders`.`id`) AS `n` FROM `customers` LEFT OUTER JOIN `orders` ON (`customers`.`id` = `orders`.`customer_id`) GROUP BY `customers`.`region` ORDER BY NULL;
SELECT COUNT(CASE WHEN `orders`.`status` = 'paid' THEN `orders`.`id` ELSE NULL END) AS `paid`, COUNT(CASE WHEN NOT (`orders`.`status` = 'paid') THEN `orders`.`id` ELSE NULL END) AS `other` FROM `orders`;
-- a sum alone is clipped at a high quantile of the persons' sums
-- @within 1e-2
SELECT SUM(CASE WHEN `orders`.`amount` > 500.0 THEN 1 ELSE 0 END) AS `big` FROM `orders`;
SELECT COUNT(DISTINCT `orders`.`customer_id`) AS `customer__count` FROM `orders`;
SELECT COUNT(*) FROM (SELECT `orders`.`status` AS `col1`, COUNT(`orders`.`id`) AS `n` FROM `orders` GROUP BY 1 ORDER BY NULL) subquery;
SELECT AVG(`n`) AS `avg` FROM (SELECT `orders`.`customer_id` AS `col1`, COUNT(`orders`.`id`) AS `n` FROM `orders` GROUP BY `orders`.`customer_id` ORDER BY NULL) subquery;
SELECT COUNT(*) AS `__count` FROM `orders` WHERE (`orders`.`placed` >= '2024-01-01 00:00:00' AND NOT (`orders`.`channel` IS NULL));
SELECT COUNT(*) AS `__count` FROM `orders` WHERE `orders`.`placed` BETWEEN '2024-01-01 00:00:00' AND '2024-12-31 23:59:59.999999';
SELECT COUNT(*) AS `__count` FROM `customers` WHERE `customers`.`city` LIKE BINARY 'Os%';
SELECT COUNT(*) AS `__count` FROM `orders` INNER JOIN `customers` ON (`orders`.`customer_id` = `customers`.`id`) WHERE (`customers`.`region` = 'north' AND `orders`.`qty` > 3);
SELECT DISTINCT `orders`.`status` FROM `orders`;
SELECT DISTINCT `orders`.`status`, `orders`.`channel` FROM `orders` ORDER BY `orders`.`status` ASC, `orders`.`channel` ASC;
SELECT DISTINCT CAST(DATE_FORMAT(`orders`.`placed`, '%Y-01-01') AS DATE) AS `datefield` FROM `orders` WHERE `orders`.`placed` IS NOT NULL ORDER BY `datefield` ASC;
SELECT COUNT(*) AS `__count` FROM `orders` WHERE `orders`.`product_id` IN (SELECT U0.`id` AS Col1 FROM `products` U0 WHERE U0.`category` = 'Office');
-- exists(), first(), and a queryset as it is
-- @refused 45002 rows
SELECT (1) AS `a` FROM `orders` WHERE `orders`.`status` = 'paid' LIMIT 1;
-- @refused 45002 rows
SELECT `orders`.`id`, `orders`.`status` FROM `orders` ORDER BY `orders`.`id` ASC LIMIT 1;
-- @refused 45002 rows
SELECT `orders`.`id`, `orders`.`customer_id`, `orders`.`status` FROM `orders` ORDER BY 1 LIMIT 21;

-- Tableau: every field is quoted, aliases hold colons, GROUP BY is by position.

-- the year
SELECT ADDDATE(DATE_FORMAT(`orders`.`placed`, '%Y-01-01 00:00:00'), INTERVAL 0 SECOND) AS `tyear:placed:ok`, SUM(1) AS `sum:Number of Records:ok`, SUM(`orders`.`amount`) AS `sum:amount:ok` FROM `orders` GROUP BY 1;

-- the quarter
SELECT ADDDATE(CONCAT(DATE_FORMAT(`orders`.`placed`, '%Y-'), (3*(QUARTER(`orders`.`placed`)-1)+1), '-01 00:00:00'), INTERVAL 0 SECOND) AS `tquarter:placed:ok`, SUM(1) AS `sum:Number of Records:ok`, SUM(`orders`.`amount`) AS `sum:amount:ok` FROM `orders` GROUP BY 1;

-- the month
SELECT ADDDATE(DATE_FORMAT(`orders`.`placed`, '%Y-%m-01 00:00:00'), INTERVAL 0 SECOND) AS `tmonth:placed:ok`, SUM(1) AS `sum:Number of Records:ok`, SUM(`orders`.`amount`) AS `sum:amount:ok` FROM `orders` GROUP BY 1;

-- the week
SELECT ADDDATE(DATE_FORMAT(ADDDATE(`orders`.`placed`, INTERVAL (1-DAYOFWEEK(`orders`.`placed`)) DAY), '%Y-%m-%d 00:00:00'), INTERVAL 0 SECOND) AS `tweek:placed:ok`, SUM(1) AS `sum:Number of Records:ok`, SUM(`orders`.`amount`) AS `sum:amount:ok` FROM `orders` GROUP BY 1;

-- the day
SELECT ADDDATE(DATE_FORMAT(`orders`.`placed`, '%Y-%m-%d 00:00:00'), INTERVAL 0 SECOND) AS `tday:placed:ok`, SUM(1) AS `sum:Number of Records:ok`, SUM(`orders`.`amount`) AS `sum:amount:ok` FROM `orders` GROUP BY 1;

-- the day, as a timestamp
SELECT TIMESTAMP(DATE(`orders`.`placed`)) AS `tday:placed:ok`, SUM(1) AS `sum:Number of Records:ok`, SUM(`orders`.`amount`) AS `sum:amount:ok` FROM `orders` GROUP BY 1;

-- the hour
SELECT ADDDATE(DATE_FORMAT(`orders`.`placed`, '%Y-%m-%d %H:00:00'), INTERVAL 0 SECOND) AS `thour:placed:ok`, SUM(1) AS `sum:Number of Records:ok`, SUM(`orders`.`amount`) AS `sum:amount:ok` FROM `orders` GROUP BY 1;

-- the minute
SELECT ADDDATE(DATE_FORMAT(`orders`.`placed`, '%Y-%m-%d %H:%i:00'), INTERVAL 0 SECOND) AS `tminute:placed:ok`, SUM(1) AS `sum:Number of Records:ok`, SUM(`orders`.`amount`) AS `sum:amount:ok` FROM `orders` GROUP BY 1;

-- the second
SELECT ADDDATE(DATE_FORMAT(`orders`.`placed`, '%Y-%m-%d %H:%i:%s'), INTERVAL 0 SECOND) AS `tsecond:placed:ok`, SUM(1) AS `sum:Number of Records:ok`, SUM(`orders`.`amount`) AS `sum:amount:ok` FROM `orders` GROUP BY 1;


SELECT `orders`.`status` AS `status`, SUM(`orders`.`amount`) AS `sum:amount:ok` FROM `shop`.`orders` `orders` GROUP BY 1;
SELECT `orders`.`status` AS `status`, AVG(`orders`.`discount`) AS `avg:discount:ok`, COUNT(`orders`.`discount`) AS `cnt:discount:ok` FROM `orders` GROUP BY `status`;
SELECT SUM(`orders`.`amount`) AS `sum:amount:ok` FROM `orders` HAVING (COUNT(1) > 0);
SELECT COUNT(DISTINCT `orders`.`customer_id`) AS `ctd:customer_id:ok` FROM `orders` HAVING (COUNT(1) > 0);
SELECT YEAR(`orders`.`placed`) AS `yr:placed:ok`, QUARTER(`orders`.`placed`) AS `qr:placed:ok`, COUNT(1) AS `cnt` FROM `orders` GROUP BY 1, 2;
SELECT (CASE WHEN (`orders`.`amount` > 500) THEN 'high' ELSE 'low' END) AS `Calculation_1`, SUM(1) AS `sum:Number of Records:ok` FROM `orders` GROUP BY 1;
SELECT IF(`orders`.`qty` > 5, 'many', 'few') AS `group`, AVG(`orders`.`amount`) AS `avg:amount:ok` FROM `orders` WHERE ((`orders`.`placed` >= TIMESTAMP('2024-01-01 00:00:00')) AND (`orders`.`placed` <= TIMESTAMP('2024-12-31 23:59:59'))) GROUP BY 1;
SELECT `orders`.`status` AS `status` FROM `orders` WHERE ((`orders`.`status` >= 'open') AND (`orders`.`status` <= 'paid')) GROUP BY 1 ORDER BY 1;
SELECT `orders`.`status` AS `status` FROM `orders` GROUP BY 1 ORDER BY 1;
SELECT `Custom SQL Query`.`status` AS `status`, SUM(`Custom SQL Query`.`amount`) AS `sum:amount:ok` FROM (
  select status, amount from orders where qty > 2
) `Custom SQL Query` GROUP BY 1;
SELECT `orders`.`status` AS `status`, (SUM(`orders`.`amount`) / SUM(`orders`.`qty`)) AS `usr:price:ok` FROM `orders` GROUP BY 1;
SELECT SUM((CASE WHEN (`orders`.`status` = 'returned') THEN 1 ELSE 0 END)) / COUNT(1) AS `usr:returned:ok` FROM `orders` HAVING (COUNT(1) > 0);
-- the top two by a measure
SELECT `orders`.`status` AS `status`, `orders`.`channel` AS `channel`, SUM(`orders`.`amount`) AS `sum:amount:ok` FROM `orders` INNER JOIN (
  SELECT `orders`.`status` AS `status`, SUM(`orders`.`amount`) AS `$__alias__0` FROM `orders` GROUP BY 1 ORDER BY `$__alias__0` DESC LIMIT 2
) `t0` ON (`orders`.`status` = `t0`.`status`) GROUP BY 1, 2;
SELECT `orders`.`channel` AS `channel`, SUM(`orders`.`amount`) AS `sum:amount:ok` FROM `orders` INNER JOIN (
  SELECT `orders`.`channel` AS `channel`, SUM(`orders`.`amount`) AS `$__alias__0` FROM `orders` GROUP BY 1 ORDER BY `$__alias__0` DESC LIMIT 2
) `t0` ON (`orders`.`channel` <=> `t0`.`channel`) GROUP BY 1;
-- a star of tables
SELECT `regions`.`country` AS `country`, `products`.`category` AS `category`, SUM(`orders`.`qty`) AS `sum:qty:ok` FROM `orders` INNER JOIN `products` ON (`orders`.`product_id` = `products`.`id`) INNER JOIN `customers` ON (`orders`.`customer_id` = `customers`.`id`) INNER JOIN `regions` ON (`customers`.`region` = `regions`.`name`) GROUP BY 1, 2;
SELECT STDDEV_SAMP(`orders`.`amount`) AS `std:amount:ok`, VAR_POP(`orders`.`amount`) AS `var:amount:ok` FROM `orders` HAVING (COUNT(1) > 0);
-- the columns of a table
SELECT * FROM `shop`.`orders` LIMIT 0;
-- View Data
-- @refused 45002 rows
SELECT `orders`.`amount` AS `amount`, `orders`.`id` AS `id` FROM `orders` ORDER BY 2 LIMIT 10000;

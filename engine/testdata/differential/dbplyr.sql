-- dbplyr: verbs become nested selects named q01; a lazy table is printed through LIMIT 11, its columns are read by WHERE (0 = 1).

SELECT * FROM `orders` AS `q01` WHERE (0 = 1);
SELECT *
FROM (
  SELECT `status`, COUNT(*) AS `n`
  FROM `orders`
  GROUP BY `status`
) AS `q01`
WHERE (0 = 1);
SELECT `status`, COUNT(*) AS `n`
FROM `orders`
GROUP BY `status`
LIMIT 11;
SELECT `status`, COUNT(*) AS `n`, AVG(`amount`) AS `m`
FROM `orders`
GROUP BY `status`
ORDER BY `n` DESC, `status`;
SELECT `y`, COUNT(*) AS `n`
FROM (
  SELECT `orders`.*, EXTRACT(year FROM `placed`) AS `y`
  FROM `orders`
) AS `q01`
WHERE (`y` = 2024.0)
GROUP BY `y`;
SELECT `channel`, SUM(`amount`) AS `total`
FROM (
  SELECT `q01`.*
  FROM (
    SELECT *
    FROM `orders`
    WHERE (`qty` > 2.0)
  ) AS `q01`
  WHERE (NOT((`channel` IS NULL)))
) AS `q02`
GROUP BY `channel`;
SELECT `region`, AVG(`age`) AS `age`
FROM (
  SELECT `customers`.*
  FROM `customers`
  WHERE (`segment` IN ('Consumer', 'Corporate'))
) AS `q01`
GROUP BY `region`
HAVING (COUNT(*) > 10.0);
-- @missing the join may find nothing, so that NULL is a public key
SELECT `region`, AVG(`amount`) AS `m`
FROM (
  SELECT `LHS`.*, `region`
  FROM `orders` AS `LHS`
  LEFT JOIN `customers` AS `RHS`
    ON (`LHS`.`customer_id` = `RHS`.`id`)
) AS `q01`
GROUP BY `region`;
-- @missing the join may find nothing, so that NULL is a public key
SELECT `category`, COUNT(*) AS `n`
FROM (
  SELECT `orders`.*, `title`, `category`, `price`
  FROM `orders`
  LEFT JOIN `products`
    ON (`orders`.`product_id` = `products`.`id`)
) AS `q01`
GROUP BY `category`
ORDER BY `n` DESC, `category`;
SELECT COUNT(*) AS `n`
FROM `orders`;
SELECT COUNT(*) AS `n`
FROM (
  SELECT DISTINCT `status`
  FROM `orders`
) AS `q01`;
SELECT COUNT(DISTINCT `customer_id`) AS `n`
FROM `orders`;
SELECT `big`, COUNT(*) AS `n`
FROM (
  SELECT `orders`.*, CASE WHEN (`amount` > 500.0) THEN 'yes' WHEN NOT (`amount` > 500.0) THEN 'no' END AS `big`
  FROM `orders`
) AS `q01`
GROUP BY `big`;
SELECT STDDEV_SAMP(`amount`) AS `s`, VAR_SAMP(`amount`) AS `v`
FROM `orders`;
SELECT DISTINCT `status`
FROM `orders`;
SELECT `status`, SUM(`amount`) / SUM(`qty`) AS `unit_price`
FROM `orders`
GROUP BY `status`;
SELECT `status`, `n`, `n` / SUM(`n`) OVER () AS `share`
FROM (
  SELECT `status`, COUNT(*) AS `n`
  FROM `orders`
  GROUP BY `status`
) AS `q01`;
-- a printed lazy table
-- @refused 45002 rows
SELECT *
FROM `orders`
ORDER BY `id`
LIMIT 11;
-- @refused 45002 rows
SELECT `orders`.*, `amount` * 2.0 AS `double`
FROM `orders`
ORDER BY `id`
LIMIT 6;

-- Cube: dimensions by position, granularities through CONVERT_TZ and DATE_FORMAT.

-- the day
SELECT
      CAST(DATE_FORMAT(CONVERT_TZ(`orders`.placed, @@session.time_zone, '+00:00'), '%Y-%m-%dT00:00:00.000') AS DATETIME) `orders__placed_at`, count(*) `orders__count`
    FROM
      shop.orders AS `orders`
  GROUP BY 1 ORDER BY 1 ASC LIMIT 10000;

-- the week
SELECT
      CAST(DATE_FORMAT(DATE_ADD('1900-01-01', INTERVAL TIMESTAMPDIFF(WEEK, '1900-01-01', CONVERT_TZ(`orders`.placed, @@session.time_zone, '+00:00')) WEEK), '%Y-%m-%dT00:00:00.000') AS DATETIME) `orders__placed_at`, count(*) `orders__count`
    FROM
      shop.orders AS `orders`
  GROUP BY 1 ORDER BY 1 ASC LIMIT 10000;

-- the hour
SELECT
      CAST(DATE_FORMAT(CONVERT_TZ(`orders`.placed, @@session.time_zone, '+00:00'), '%Y-%m-%dT%H:00:00.000') AS DATETIME) `orders__placed_at`, count(*) `orders__count`
    FROM
      shop.orders AS `orders`
  GROUP BY 1 ORDER BY 1 ASC LIMIT 10000;

-- the minute
SELECT
      CAST(DATE_FORMAT(CONVERT_TZ(`orders`.placed, @@session.time_zone, '+00:00'), '%Y-%m-%dT%H:%i:00.000') AS DATETIME) `orders__placed_at`, count(*) `orders__count`
    FROM
      shop.orders AS `orders`
  GROUP BY 1 ORDER BY 1 ASC LIMIT 10000;

-- the second
SELECT
      CAST(DATE_FORMAT(CONVERT_TZ(`orders`.placed, @@session.time_zone, '+00:00'), '%Y-%m-%dT%H:%i:%S.000') AS DATETIME) `orders__placed_at`, count(*) `orders__count`
    FROM
      shop.orders AS `orders`
  GROUP BY 1 ORDER BY 1 ASC LIMIT 10000;

-- the month
SELECT
      CAST(DATE_FORMAT(CONVERT_TZ(`orders`.placed, @@session.time_zone, '+00:00'), '%Y-%m-01T00:00:00.000') AS DATETIME) `orders__placed_at`, count(*) `orders__count`
    FROM
      shop.orders AS `orders`
  GROUP BY 1 ORDER BY 1 ASC LIMIT 10000;

-- the quarter
SELECT
      CAST(DATE_ADD('1900-01-01', INTERVAL TIMESTAMPDIFF(QUARTER, '1900-01-01', CONVERT_TZ(`orders`.placed, @@session.time_zone, '+00:00')) QUARTER) AS DATETIME) `orders__placed_at`, count(*) `orders__count`
    FROM
      shop.orders AS `orders`
  GROUP BY 1 ORDER BY 1 ASC LIMIT 10000;

-- the year
SELECT
      CAST(DATE_FORMAT(CONVERT_TZ(`orders`.placed, @@session.time_zone, '+00:00'), '%Y-01-01T00:00:00.000') AS DATETIME) `orders__placed_at`, count(*) `orders__count`
    FROM
      shop.orders AS `orders`
  GROUP BY 1 ORDER BY 1 ASC LIMIT 10000;

-- the day of another time zone
SELECT
      CAST(DATE_FORMAT(CONVERT_TZ(`orders`.placed, @@session.time_zone, '+02:00'), '%Y-%m-%dT00:00:00.000') AS DATETIME) `orders__placed_at`, count(*) `orders__count`
    FROM
      shop.orders AS `orders`
  GROUP BY 1 ORDER BY 1 ASC LIMIT 10000;


SELECT
      `orders`.status `orders__status`, count(*) `orders__count`, sum(`orders`.amount) `orders__total`
    FROM
      shop.orders AS `orders`
  GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10000;
SELECT
      `orders`.status `orders__status`, avg(`orders`.amount) `orders__mean`
    FROM
      shop.orders AS `orders`
  WHERE (`orders`.placed >= TIMESTAMP(convert_tz('2024-01-01T00:00:00.000', '+00:00', @@session.time_zone)) AND `orders`.placed <= TIMESTAMP(convert_tz('2024-12-31T23:59:59.999', '+00:00', @@session.time_zone)))
  GROUP BY 1 ORDER BY 2 DESC LIMIT 10000;
SELECT
      `customers`.region `customers__region`, count(distinct `customers`.id) `customers__count`
    FROM
      shop.customers AS `customers`
  WHERE (`customers`.city LIKE CONCAT('%', 'Os', '%'))
  GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10000;
-- a measure over another
SELECT
      `orders`.channel `orders__channel`, sum(CASE WHEN (`orders`.status = 'paid') THEN 1 END) `orders__paid`, sum(CASE WHEN (`orders`.status = 'paid') THEN 1 END) / count(*) `orders__paid_share`
    FROM
      shop.orders AS `orders`
  GROUP BY 1 ORDER BY 1 LIMIT 10000;
-- the number of rows of a result
select count(*) `total_count` from (SELECT
      `orders`.status `orders__status`, count(*) `orders__count`
    FROM
      shop.orders AS `orders`
  GROUP BY 1) AS original_query;
-- joins
-- @missing the join may find nothing, so that NULL is a public key
SELECT
      `products`.category `products__category`, sum(`orders`.qty) `orders__qty`
    FROM
      shop.orders AS `orders`
LEFT JOIN shop.products AS `products` ON `orders`.product_id = `products`.id
  GROUP BY 1 ORDER BY 2 DESC LIMIT 10000;
-- @missing the join may find nothing, so that NULL is a public key
SELECT
      `customers`.segment `customers__segment`, sum(`orders`.amount) `orders__total`
    FROM
      shop.orders AS `orders`
LEFT JOIN shop.customers AS `customers` ON `orders`.customer_id = `customers`.id
  GROUP BY 1 ORDER BY 2 DESC LIMIT 10000;
SELECT count(*) `orders__count` FROM shop.orders AS `orders` LIMIT 10000;
SELECT count(distinct `orders`.customer_id) `orders__customers` FROM shop.orders AS `orders` LIMIT 10000;

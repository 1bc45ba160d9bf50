-- Looker: dotted aliases, GROUP BY by position, measures with conditions.

-- the date
SELECT
    DATE(orders.placed ) AS `orders.placed_at`,
    COUNT(*) AS `orders.count`
FROM shop.orders AS orders
GROUP BY
    1
ORDER BY
    1 DESC
LIMIT 500;

-- the month
SELECT
    DATE_FORMAT(orders.placed ,'%Y-%m') AS `orders.placed_at`,
    COUNT(*) AS `orders.count`
FROM shop.orders AS orders
GROUP BY
    1
ORDER BY
    1 DESC
LIMIT 500;

-- the week
SELECT
    DATE_FORMAT(DATE_ADD(orders.placed , INTERVAL(0-MOD((DAYOFWEEK(orders.placed )-1)-1+7,7)) DAY), '%Y-%m-%d') AS `orders.placed_at`,
    COUNT(*) AS `orders.count`
FROM shop.orders AS orders
GROUP BY
    1
ORDER BY
    1 DESC
LIMIT 500;

-- the quarter
SELECT
    DATE_FORMAT(CAST(CONCAT(YEAR(orders.placed ),'-',LPAD((QUARTER(orders.placed )-1)*3+1,2,'0'),'-01') AS DATETIME),'%Y-%m') AS `orders.placed_at`,
    COUNT(*) AS `orders.count`
FROM shop.orders AS orders
GROUP BY
    1
ORDER BY
    1 DESC
LIMIT 500;

-- the year
SELECT
    YEAR(orders.placed ) AS `orders.placed_at`,
    COUNT(*) AS `orders.count`
FROM shop.orders AS orders
GROUP BY
    1
ORDER BY
    1 DESC
LIMIT 500;

-- the hour
SELECT
    DATE_FORMAT(orders.placed ,'%Y-%m-%d %H') AS `orders.placed_at`,
    COUNT(*) AS `orders.count`
FROM shop.orders AS orders
GROUP BY
    1
ORDER BY
    1 DESC
LIMIT 500;

-- the minute
SELECT
    DATE_FORMAT(orders.placed ,'%Y-%m-%d %H:%i') AS `orders.placed_at`,
    COUNT(*) AS `orders.count`
FROM shop.orders AS orders
GROUP BY
    1
ORDER BY
    1 DESC
LIMIT 500;

-- the time
SELECT
    DATE_FORMAT(orders.placed ,'%Y-%m-%d %H:%i:%s') AS `orders.placed_at`,
    COUNT(*) AS `orders.count`
FROM shop.orders AS orders
GROUP BY
    1
ORDER BY
    1 DESC
LIMIT 500;

-- the name of the day
SELECT
    DATE_FORMAT(orders.placed ,'%W') AS `orders.placed_at`,
    COUNT(*) AS `orders.count`
FROM shop.orders AS orders
GROUP BY
    1
ORDER BY
    1 DESC
LIMIT 500;

-- the name of the month
SELECT
    DATE_FORMAT(orders.placed ,'%M') AS `orders.placed_at`,
    COUNT(*) AS `orders.count`
FROM shop.orders AS orders
GROUP BY
    1
ORDER BY
    1 DESC
LIMIT 500;

-- the hour of the day
SELECT
    CAST(HOUR(orders.placed ) AS SIGNED) AS `orders.placed_at`,
    COUNT(*) AS `orders.count`
FROM shop.orders AS orders
GROUP BY
    1
ORDER BY
    1 DESC
LIMIT 500;


SELECT
    orders.status AS `orders.status`,
    COUNT(*) AS `orders.count`,
    COALESCE(SUM(orders.amount ), 0) AS `orders.total_amount`
FROM shop.orders AS orders
WHERE ((( orders.placed ) >= (TIMESTAMP('2024-01-01 00:00:00')) AND ( orders.placed ) < (TIMESTAMP('2025-01-01 00:00:00'))))
GROUP BY
    1
ORDER BY
    COUNT(*) DESC, 1
LIMIT 500;
SELECT
    customers.region AS `customers.region`,
    AVG(customers.age ) AS `customers.average_age`
FROM shop.customers AS customers
WHERE (customers.segment IN ('Consumer', 'Corporate'))
GROUP BY
    1
HAVING COUNT(*) > 5
ORDER BY
    2 DESC, 1
LIMIT 500;
SELECT
    COUNT(DISTINCT orders.customer_id ) AS `orders.count_customers`,
    COUNT(DISTINCT CASE WHEN orders.status = 'returned' THEN orders.customer_id ELSE NULL END) AS `orders.count_returners`
FROM shop.orders AS orders
LIMIT 500;
SELECT
    COUNT(CASE WHEN (orders.status = 'paid') THEN 1 ELSE NULL END) AS `orders.count_paid`,
    COALESCE(SUM(CASE WHEN (orders.status = 'paid') THEN orders.qty ELSE NULL END), 0) AS `orders.qty_paid`
FROM shop.orders AS orders
LIMIT 500;
-- the number of rows by the primary key
SELECT COUNT(DISTINCT orders.id ) AS `orders.count` FROM shop.orders AS orders;
-- the total of a table of results
SELECT COALESCE(SUM(orders.amount ), 0) AS `orders.total_amount`, 1.0 * COALESCE(SUM(orders.amount ), 0) / NULLIF(COUNT(*), 0) AS `orders.mean` FROM shop.orders AS orders LIMIT 1;
-- tiers
SELECT
    CASE
WHEN customers.age  < 30 THEN 'Below 30'
WHEN customers.age  >= 30 AND customers.age  < 50 THEN '30 to 49'
WHEN customers.age  >= 50 THEN '50 or Above'
ELSE 'Undefined'
END AS `customers.age_tier`,
    COUNT(*) AS `customers.count`
FROM shop.customers AS customers
GROUP BY
    1
ORDER BY
    1
LIMIT 500;
-- a derived table
WITH by_customer AS (SELECT customer_id, COUNT(*) AS n, SUM(amount) AS total FROM shop.orders GROUP BY customer_id)
SELECT
    AVG(by_customer.n ) AS `by_customer.average_orders`
FROM by_customer
LIMIT 500;
-- joined views
-- @missing the join may find nothing, so that NULL is a public key
SELECT
    regions.country AS `regions.country`,
    COUNT(DISTINCT customers.id ) AS `customers.count`
FROM shop.orders AS orders
LEFT JOIN shop.customers AS customers ON orders.customer_id = customers.id
LEFT JOIN shop.regions AS regions ON customers.region = regions.name
GROUP BY
    1
ORDER BY
    1
LIMIT 500;
-- suggestions of a filter
SELECT DISTINCT orders.status AS `orders.status` FROM shop.orders AS orders WHERE (orders.status LIKE '%' OR orders.status LIKE '% %') GROUP BY 1 ORDER BY 1 LIMIT 1000;
SELECT DISTINCT orders.status AS `orders.status` FROM shop.orders AS orders WHERE (orders.status LIKE '%p%') GROUP BY 1 ORDER BY 1 LIMIT 1000;
-- @refused 45002 rows
SELECT orders.id AS `orders.id`, orders.amount AS `orders.amount` FROM shop.orders AS orders ORDER BY 1 LIMIT 500;

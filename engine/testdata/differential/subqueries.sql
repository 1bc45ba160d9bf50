-- Subqueries, derived tables and common table expressions, as of TPC-H and of analysts.
-- @file public these are about what is pushed to the store whole

-- [NOT] IN
SELECT COUNT(*) AS n FROM orders WHERE customer_id IN (SELECT id FROM customers WHERE region = 'north');
SELECT COUNT(*) AS n FROM orders WHERE customer_id NOT IN (SELECT id FROM customers WHERE region = 'north');
SELECT COUNT(*) AS n FROM orders WHERE channel IN (SELECT channel FROM orders WHERE qty > 11);
SELECT COUNT(*) AS n FROM orders WHERE channel NOT IN (SELECT channel FROM orders WHERE qty > 11 AND channel = 'web');
SELECT COUNT(*) AS n FROM orders WHERE 'fax' NOT IN (SELECT channel FROM orders);
SELECT COUNT(*) AS n FROM orders WHERE 'fax' NOT IN (SELECT channel FROM orders WHERE channel IS NOT NULL);
SELECT COUNT(*) AS n FROM orders WHERE channel NOT IN (SELECT channel FROM orders WHERE qty > 1000);
SELECT COUNT(*) AS n FROM orders WHERE NOT (customer_id IN (SELECT id FROM customers WHERE age > 40));
SELECT id FROM customers WHERE id IN (SELECT customer_id FROM orders WHERE product_id IN (SELECT id FROM products WHERE category = 'Office' AND price > 50) AND qty > 10) ORDER BY id;
SELECT COUNT(*) AS n FROM orders WHERE product_id + 1 IN (SELECT id FROM products WHERE price < 60);
SELECT COUNT(*) AS n FROM orders WHERE amount IN (SELECT MAX(amount) FROM orders GROUP BY customer_id);
SELECT COUNT(*) AS n FROM orders WHERE qty IN (SELECT qty FROM orders GROUP BY qty HAVING COUNT(*) > 140);
SELECT COUNT(*) AS n FROM orders WHERE qty IN (SELECT DISTINCT age DIV 10 FROM customers);
SELECT COUNT(*) AS n FROM customers WHERE city IN (SELECT city FROM customers WHERE age > 70) AND region NOT IN (SELECT name FROM regions WHERE country = 'Norway');
SELECT id, id IN (SELECT customer_id FROM orders WHERE qty = 12) AS big FROM customers ORDER BY id;
SELECT region, SUM(id IN (SELECT customer_id FROM orders WHERE qty = 12)) AS big FROM customers GROUP BY region ORDER BY region;
SELECT CASE WHEN id IN (SELECT customer_id FROM orders WHERE amount > 400) THEN 'big' ELSE 'small' END AS k, COUNT(*) AS n FROM customers GROUP BY k ORDER BY k;
SELECT COUNT(*) AS n FROM orders o WHERE qty IN (SELECT p.id FROM products p WHERE p.id > o.product_id);
SELECT COUNT(*) AS n FROM orders o WHERE qty NOT IN (SELECT p.id FROM products p WHERE p.id > o.product_id);
SELECT COUNT(*) AS n FROM orders WHERE customer_id IN (SELECT id FROM customers WHERE balance IS NULL) OR product_id IN (SELECT id FROM products WHERE category = 'Furniture');
SELECT COUNT(*) AS n FROM orders WHERE (customer_id, qty) IN (SELECT id, age DIV 10 FROM customers);
SELECT COUNT(*) AS n FROM orders WHERE (customer_id, qty) NOT IN (SELECT id, age DIV 10 FROM customers WHERE age IS NOT NULL);
SELECT COUNT(*) AS n FROM orders WHERE DATE(placed) IN (SELECT DATE(placed) FROM orders WHERE qty = 12);
SELECT COUNT(*) AS n FROM orders WHERE discount IN (SELECT MAX(discount) FROM orders);
SELECT COUNT(*) AS n FROM orders WHERE qty IN (SELECT price FROM products);
SELECT COUNT(*) AS n FROM customers WHERE joined IN (SELECT MIN(joined) FROM customers UNION SELECT MAX(joined) FROM customers);

-- [NOT] EXISTS
SELECT COUNT(*) AS n FROM customers c WHERE EXISTS (SELECT * FROM orders o WHERE o.customer_id = c.id AND o.qty > 11);
SELECT COUNT(*) AS n FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id AND o.status = 'returned');
SELECT COUNT(*) AS n FROM orders o WHERE EXISTS (SELECT * FROM orders p WHERE p.customer_id = o.customer_id AND p.product_id <> o.product_id AND p.qty > o.qty);
SELECT COUNT(*) AS n FROM orders o WHERE EXISTS (SELECT * FROM orders p WHERE p.customer_id = o.customer_id AND p.id <> o.id) AND NOT EXISTS (SELECT * FROM orders p WHERE p.customer_id = o.customer_id AND p.id <> o.id AND p.shipped > p.placed);
SELECT status, COUNT(*) AS n FROM orders o WHERE EXISTS (SELECT * FROM customers c WHERE c.id = o.customer_id AND c.age BETWEEN 30 AND 40) GROUP BY status ORDER BY status;
SELECT COUNT(*) AS n FROM customers WHERE EXISTS (SELECT * FROM orders WHERE qty > 100);
SELECT COUNT(*) AS n FROM customers WHERE NOT EXISTS (SELECT * FROM orders WHERE qty > 100);
SELECT p.id, EXISTS (SELECT * FROM orders o WHERE o.product_id = p.id AND o.channel IS NULL) AS unknown FROM products p ORDER BY p.id;
SELECT COUNT(*) AS n FROM customers c WHERE EXISTS (SELECT o.customer_id FROM orders o WHERE o.customer_id = c.id GROUP BY o.customer_id HAVING SUM(o.qty) > 60);
SELECT COUNT(*) AS n FROM customers c WHERE EXISTS (SELECT 1 FROM orders o JOIN products p ON p.id = o.product_id WHERE o.customer_id = c.id AND p.category = 'Technology');
SELECT COUNT(*) AS n FROM regions r WHERE EXISTS (SELECT 1 FROM customers c WHERE c.region = r.name AND EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id AND o.qty = 12));
SELECT COUNT(*) AS n FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id AND EXISTS (SELECT 1 FROM products p WHERE p.id = o.product_id AND p.price > c.age));
SELECT COUNT(*) AS n FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id) OR c.balance > 500;
SELECT COUNT(*) AS n FROM customers c WHERE (EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id AND qty = 1)) <> (c.age > 50);
SELECT COUNT(*) AS n FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id <=> c.id AND o.shipped IS NULL LIMIT 1);
SELECT IF(EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id AND o.discount > 0.8), 'yes', 'no') AS k, COUNT(*) AS n FROM customers c GROUP BY k ORDER BY k;
SELECT COUNT(*) AS n FROM orders o WHERE NOT EXISTS (SELECT 1 FROM orders p WHERE p.customer_id = o.customer_id AND p.placed > o.placed);

-- one value
SELECT COUNT(*) AS n FROM orders WHERE amount > (SELECT AVG(amount) FROM orders);
SELECT COUNT(*) AS n FROM orders o WHERE amount > (SELECT AVG(amount) FROM orders p WHERE p.product_id = o.product_id);
SELECT COUNT(*) AS n FROM orders o WHERE qty < (SELECT 0.5 * AVG(qty) FROM orders p WHERE p.customer_id = o.customer_id);
SELECT COUNT(*) AS n FROM orders o WHERE amount = (SELECT MAX(p.amount) FROM orders p WHERE p.customer_id = o.customer_id);
SELECT c.id, (SELECT COUNT(*) FROM orders o WHERE o.customer_id = c.id) AS n FROM customers c ORDER BY c.id;
SELECT c.id, (SELECT COUNT(*) FROM orders o WHERE o.customer_id = c.id AND o.status = 'open') AS n FROM customers c ORDER BY n DESC, c.id LIMIT 20;
SELECT c.id, (SELECT SUM(o.amount) FROM orders o WHERE o.customer_id = c.id AND o.status = 'open') AS s FROM customers c ORDER BY c.id;
SELECT c.id, COALESCE((SELECT SUM(o.amount) FROM orders o WHERE o.customer_id = c.id AND o.status = 'open'), 0) AS s FROM customers c ORDER BY c.id;
SELECT c.id, (SELECT MAX(o.placed) FROM orders o WHERE o.customer_id = c.id) AS last FROM customers c ORDER BY c.id;
SELECT c.id, (SELECT o.amount FROM orders o WHERE o.customer_id = c.id ORDER BY o.id DESC LIMIT 1) AS last FROM customers c ORDER BY c.id;
SELECT c.id, (SELECT o.amount FROM orders o WHERE o.customer_id = c.id ORDER BY o.amount LIMIT 1) AS least FROM customers c ORDER BY c.id;
SELECT o.id, (SELECT p.title FROM products p WHERE p.id = o.product_id) AS title FROM orders o WHERE o.qty = 12 ORDER BY o.id;
SELECT (SELECT p.category FROM products p WHERE p.id = o.product_id) AS category, SUM(o.amount) AS s FROM orders o GROUP BY category ORDER BY category;
SELECT o.status, SUM((SELECT p.price FROM products p WHERE p.id = o.product_id) * o.qty) AS worth FROM orders o GROUP BY o.status ORDER BY o.status;
SELECT COUNT(*) AS n FROM orders o WHERE o.amount > 3 * (SELECT p.price FROM products p WHERE p.id = o.product_id);
SELECT (SELECT COUNT(*) FROM customers) AS c, (SELECT COUNT(*) FROM orders) AS o, (SELECT MIN(price) FROM products) AS p;
SELECT status, COUNT(*) / (SELECT COUNT(*) FROM orders) AS share FROM orders GROUP BY status ORDER BY status;
SELECT status, ROUND(100 * SUM(amount) / (SELECT SUM(amount) FROM orders), 2) AS share FROM orders GROUP BY status ORDER BY status;
SELECT SUM(amount) AS s, (SELECT SUM(amount) FROM orders WHERE qty > 6) AS t FROM orders;
SELECT SUM(amount) AS s, (SELECT SUM(amount) FROM orders) AS t FROM orders WHERE qty > 6;
SELECT status, SUM(qty) AS s FROM orders GROUP BY status HAVING SUM(qty) > (SELECT SUM(qty) / 4 FROM orders) ORDER BY status;
SELECT status, SUM(qty) AS s FROM orders GROUP BY status HAVING SUM(orders.qty) > (SELECT SUM(orders.qty) * 0.25 FROM orders) ORDER BY s DESC;
SELECT status, COUNT(*) AS n FROM orders GROUP BY status HAVING COUNT(*) > (SELECT COUNT(*) FROM customers) ORDER BY status;
SELECT status, COUNT(*) AS n FROM orders GROUP BY status HAVING COUNT(*) > (SELECT COUNT(1) + 100 FROM customers) ORDER BY status;
SELECT product_id, AVG(amount) AS a FROM orders GROUP BY product_id HAVING AVG(amount) > (SELECT AVG(amount) FROM orders) ORDER BY product_id;
SELECT product_id, MAX(amount) AS a FROM orders GROUP BY product_id HAVING MAX(amount) >= (SELECT MAX(amount) - 20 FROM orders) ORDER BY product_id;
SELECT product_id, COUNT(*) AS n FROM orders GROUP BY product_id HAVING COUNT(*) > (SELECT p.price FROM products p WHERE p.id = product_id) ORDER BY product_id;
SELECT product_id, COUNT(*) AS n FROM orders GROUP BY product_id HAVING EXISTS (SELECT 1 FROM products p WHERE p.id = product_id AND p.category = 'Office') ORDER BY product_id;
SELECT product_id, COUNT(*) AS n FROM orders GROUP BY product_id HAVING product_id IN (SELECT id FROM products WHERE price > 80) ORDER BY product_id;
SELECT id FROM products ORDER BY (SELECT SUM(o.qty) FROM orders o WHERE o.product_id = products.id) DESC, id;
SELECT (SELECT MAX(qty) FROM orders) - age AS d, COUNT(*) AS n FROM customers GROUP BY d ORDER BY d;
SELECT COUNT(*) AS n FROM orders WHERE qty BETWEEN (SELECT MIN(id) + 2 FROM products) AND (SELECT MAX(id) - 2 FROM products);
SELECT COUNT(*) AS n FROM orders WHERE (SELECT AVG(age) FROM customers) < 1000 AND qty > 3;
SELECT COUNT(*) AS n FROM orders WHERE amount > (SELECT MAX(price) FROM products WHERE price > 1e6);
SELECT COUNT(*) AS n FROM orders WHERE (SELECT MAX(price) FROM products WHERE price > 1e6) IS NULL;
SELECT COUNT(*) AS n FROM orders o WHERE qty = (SELECT COUNT(*) FROM products p WHERE p.id <= o.product_id);
SELECT COUNT(*) AS n FROM orders o WHERE 0 = (SELECT COUNT(*) FROM products p WHERE p.id > o.qty + 100);
SELECT COUNT(*) AS n FROM orders o WHERE placed = (SELECT MAX(placed) FROM orders p WHERE p.customer_id = o.customer_id AND p.status = o.status);
SELECT COUNT(*) AS n FROM customers c WHERE name = (SELECT MIN(d.name) FROM customers d WHERE d.region = c.region AND d.segment = c.segment);
SELECT COUNT(*) AS n FROM customers c WHERE joined > (SELECT MIN(DATE(o.placed)) - INTERVAL 2 YEAR FROM orders o WHERE o.customer_id = c.id);
SELECT COUNT(*) AS n FROM customers c WHERE age > (SELECT AVG(d.age) FROM customers d WHERE d.region = c.region) AND balance < (SELECT AVG(d.balance) FROM customers d WHERE d.city = c.city);
SELECT COUNT(*) AS n FROM customers c WHERE (SELECT COUNT(DISTINCT o.product_id) FROM orders o WHERE o.customer_id = c.id) > 5;
SELECT COUNT(*) AS n FROM customers c WHERE (SELECT STDDEV_POP(o.qty) FROM orders o WHERE o.customer_id = c.id) > 3;
SELECT c.region, AVG((SELECT COUNT(*) FROM orders o WHERE o.customer_id = c.id)) AS mean FROM customers c GROUP BY c.region ORDER BY c.region;
SELECT CASE (SELECT COUNT(*) FROM orders o WHERE o.customer_id = c.id) WHEN 1 THEN 'one' WHEN 2 THEN 'two' ELSE 'many' END AS k, COUNT(*) AS n FROM customers c GROUP BY k ORDER BY k;
SELECT IFNULL((SELECT o.channel FROM orders o WHERE o.id = c.id), 'none') AS channel, COUNT(*) AS n FROM customers c GROUP BY channel ORDER BY channel;
SELECT UPPER((SELECT p.category FROM products p WHERE p.id = 3)) AS c;
SELECT COUNT(*) AS n FROM orders WHERE product_id = (SELECT id FROM products ORDER BY price DESC LIMIT 1);
SELECT COUNT(*) AS n FROM orders WHERE product_id = (SELECT id FROM products ORDER BY price DESC LIMIT 1 OFFSET 1);
SELECT COUNT(*) AS n FROM orders o, products p WHERE p.id = o.product_id AND o.amount > (SELECT AVG(q.amount) FROM orders q WHERE q.product_id = p.id AND q.channel = o.channel);
SELECT COUNT(*) AS n FROM orders o JOIN customers c ON c.id = o.customer_id AND c.age > (SELECT AVG(age) FROM customers) WHERE o.qty > 5;
SELECT COUNT(o.id) AS n FROM customers c LEFT JOIN orders o ON o.customer_id = c.id AND o.qty > (SELECT AVG(qty) FROM orders);
SELECT COUNT(*) AS n FROM customers c LEFT JOIN orders o ON o.customer_id = c.id AND o.qty > 11 WHERE o.id IS NULL AND c.age < (SELECT AVG(age) FROM customers);

-- ANY, ALL
SELECT COUNT(*) AS n FROM orders WHERE amount >= (SELECT MAX(price) FROM products) AND qty <> (SELECT MIN(id) FROM products);
SELECT DISTINCT customer_id FROM orders WHERE amount > (SELECT 0.9 * MAX(amount) FROM orders) ORDER BY customer_id;
SELECT DISTINCT (SELECT category FROM products p WHERE p.id = o.product_id) AS category FROM orders o ORDER BY category;

-- derived tables
SELECT n, COUNT(*) AS customers FROM (SELECT c.id, COUNT(o.id) AS n FROM customers c LEFT JOIN orders o ON o.customer_id = c.id AND o.status <> 'open' GROUP BY c.id) AS x GROUP BY n ORDER BY n;
-- @mariadb WITH x (id, n) AS (SELECT c.id, COUNT(o.id) FROM customers c LEFT JOIN orders o ON o.customer_id = c.id AND o.channel NOT LIKE '%e%b%' GROUP BY c.id) SELECT n, COUNT(*) AS customers FROM x GROUP BY n ORDER BY customers DESC, n DESC
SELECT n, COUNT(*) AS customers FROM (SELECT c.id, COUNT(o.id) FROM customers c LEFT JOIN orders o ON o.customer_id = c.id AND o.channel NOT LIKE '%e%b%' GROUP BY c.id) AS x (id, n) GROUP BY n ORDER BY customers DESC, n DESC;
SELECT AVG(s) AS mean, MAX(s) AS most FROM (SELECT SUM(amount) AS s FROM orders GROUP BY customer_id) x;
SELECT x.region, x.s, y.n FROM (SELECT c.region, SUM(o.amount) AS s FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY c.region) x JOIN (SELECT region, COUNT(*) AS n FROM customers GROUP BY region) y ON y.region = x.region ORDER BY x.region;
SELECT o.id, o.amount, x.a FROM orders o JOIN (SELECT product_id, AVG(amount) AS a FROM orders GROUP BY product_id) x ON x.product_id = o.product_id WHERE o.amount > 1.9 * x.a ORDER BY o.id;
SELECT COUNT(*) AS n FROM (SELECT DISTINCT customer_id, product_id FROM orders) x;
SELECT COUNT(*) AS n FROM (SELECT customer_id FROM orders ORDER BY amount DESC, id LIMIT 100) x WHERE customer_id > 120;
SELECT x.status, COUNT(*) AS n FROM (SELECT * FROM orders WHERE qty > 6 ORDER BY id LIMIT 500 OFFSET 10) x GROUP BY x.status ORDER BY x.status;
SELECT MAX(t) AS t FROM (SELECT SUM(s) AS t FROM (SELECT customer_id, status, SUM(amount) AS s FROM orders GROUP BY customer_id, status) a GROUP BY status) b;
SELECT k, COUNT(*) AS n FROM (SELECT CASE WHEN s > 1000 THEN 'big' WHEN s > 300 THEN 'middle' ELSE 'small' END AS k FROM (SELECT SUM(amount) AS s FROM orders GROUP BY customer_id) x) y GROUP BY k ORDER BY k;
SELECT code, COUNT(*) AS n, SUM(balance) AS s FROM (SELECT SUBSTRING(region, 1, 2) AS code, balance FROM customers c WHERE balance > (SELECT AVG(balance) FROM customers WHERE balance > 0.00) AND NOT EXISTS (SELECT * FROM orders o WHERE o.customer_id = c.id AND o.qty = 12)) x GROUP BY code ORDER BY code;
SELECT y, SUM(CASE WHEN category = 'Office' THEN v ELSE 0 END) / SUM(v) AS share FROM (SELECT EXTRACT(YEAR FROM o.placed) AS y, o.amount * (1 - o.qty / 100) AS v, p.category FROM orders o, products p WHERE p.id = o.product_id) x GROUP BY y ORDER BY y;
SELECT c.region, d.region AS other, COUNT(*) AS n FROM customers c, customers d WHERE c.city = d.city AND ((c.region = 'north' AND d.region = 'south') OR (c.region = 'south' AND d.region = 'north')) AND c.age < d.age GROUP BY c.region, d.region ORDER BY c.region;
SELECT COUNT(*) AS n FROM (SELECT id FROM customers WHERE age > 60 UNION SELECT customer_id FROM orders WHERE qty = 12) x;
SELECT COUNT(*) AS n FROM (SELECT id FROM customers WHERE age > 60 UNION ALL SELECT customer_id FROM orders WHERE qty = 12) x;
SELECT kind, COUNT(*) AS n FROM (SELECT 'customer' AS kind, id FROM customers UNION ALL SELECT 'order' AS kind, id FROM orders UNION ALL SELECT 'product', id FROM products) x GROUP BY kind ORDER BY kind;
SELECT COUNT(*) AS n FROM customers WHERE id IN (SELECT customer_id FROM orders WHERE qty = 12 UNION SELECT customer_id FROM orders WHERE amount > 400);
SELECT a.customer_id, a.s FROM (SELECT customer_id, SUM(amount) AS s FROM orders GROUP BY customer_id) a WHERE a.s = (SELECT MAX(b.s) FROM (SELECT customer_id, SUM(amount) AS s FROM orders GROUP BY customer_id) b);
SELECT a.region, a.n FROM (SELECT region, COUNT(*) AS n FROM customers GROUP BY region) a WHERE a.n >= (SELECT AVG(b.n) FROM (SELECT COUNT(*) AS n FROM customers GROUP BY region) b) ORDER BY a.region;
SELECT x.id FROM (SELECT id, age FROM customers) x WHERE EXISTS (SELECT 1 FROM (SELECT customer_id, SUM(qty) AS q FROM orders GROUP BY customer_id) y WHERE y.customer_id = x.id AND y.q > x.age) ORDER BY x.id;

-- common table expressions
WITH s AS (SELECT customer_id, SUM(amount) AS t FROM orders GROUP BY customer_id) SELECT c.name, s.t FROM customers c JOIN s ON s.customer_id = c.id WHERE s.t = (SELECT MAX(t) FROM s) ORDER BY c.id;
WITH s (c, t) AS (SELECT customer_id, SUM(amount) FROM orders WHERE placed >= '2024-01-01' AND placed < '2024-01-01' + INTERVAL 3 MONTH GROUP BY customer_id) SELECT c, t FROM s WHERE t > (SELECT 2 * AVG(t) FROM s) ORDER BY c;
WITH a AS (SELECT product_id, COUNT(*) AS n FROM orders GROUP BY product_id), b AS (SELECT MAX(n) AS m FROM a) SELECT a.product_id, a.n FROM a, b WHERE a.n = b.m ORDER BY a.product_id;
WITH a AS (SELECT region, AVG(age) AS m FROM customers GROUP BY region) SELECT x.region, y.region AS other FROM a x JOIN a y ON x.m < y.m ORDER BY x.region, y.region;
WITH a AS (SELECT * FROM orders WHERE qty > 6), b AS (SELECT * FROM a WHERE amount > 100) SELECT (SELECT COUNT(*) FROM a) AS a, (SELECT COUNT(*) FROM b) AS b;
WITH a AS (SELECT customer_id, placed FROM orders WHERE status = 'paid') SELECT COUNT(*) AS n FROM customers c WHERE EXISTS (SELECT 1 FROM a WHERE a.customer_id = c.id) AND NOT EXISTS (SELECT 1 FROM a WHERE a.customer_id = c.id AND a.placed > '2024-06-30');
WITH months AS (SELECT DATE_FORMAT(placed, '%Y-%m') AS m, SUM(amount) AS s FROM orders GROUP BY m) SELECT m, s, s - (SELECT AVG(s) FROM months) AS above FROM months ORDER BY m;
WITH a AS (SELECT id, age FROM customers ORDER BY age DESC, id LIMIT 10) SELECT AVG(age) AS mean, (SELECT MIN(age) FROM a) AS least FROM a;
SELECT * FROM (WITH a AS (SELECT status, COUNT(*) AS n FROM orders GROUP BY status) SELECT status FROM a WHERE n > 100) x ORDER BY status;
WITH a AS (SELECT 1 AS k) SELECT COUNT(*) AS n FROM orders WHERE qty IN (SELECT k FROM a);

-- shapes of TPC-H
SELECT p.category, c.region, SUM(o.amount * (1 - o.discount)) AS revenue FROM orders o, customers c, products p WHERE c.id = o.customer_id AND p.id = o.product_id AND o.placed >= '2024-01-01' AND o.placed < '2024-01-01' + INTERVAL 1 YEAR GROUP BY p.category, c.region ORDER BY revenue DESC;
SELECT c.name, c.id, o.id AS o, o.placed, SUM(o.qty) AS q FROM customers c, orders o WHERE c.id IN (SELECT customer_id FROM orders GROUP BY customer_id HAVING SUM(qty) > 80) AND c.id = o.customer_id GROUP BY c.name, c.id, o.id, o.placed ORDER BY o.placed, o.id LIMIT 50;
SELECT status, SUM(CASE WHEN channel = 'web' OR channel = 'store' THEN 1 ELSE 0 END) AS high, SUM(CASE WHEN channel <> 'web' AND channel <> 'store' THEN 1 ELSE 0 END) AS low FROM orders WHERE status IN ('paid', 'open') GROUP BY status ORDER BY status;
SELECT 100.00 * SUM(CASE WHEN p.title LIKE 'Stuhl%' THEN o.amount * (1 - o.qty / 50) ELSE 0 END) / SUM(o.amount * (1 - o.qty / 50)) AS promo FROM orders o, products p WHERE p.id = o.product_id AND o.placed >= '2024-01-01' AND o.placed < '2024-01-01' + INTERVAL 3 MONTH;
SELECT p.category, p.title, COUNT(DISTINCT o.customer_id) AS n FROM orders o, products p WHERE p.id = o.product_id AND p.category <> 'Office' AND p.title NOT LIKE 'Lampe%' AND p.id IN (1, 2, 3, 5, 7, 11) AND o.customer_id NOT IN (SELECT id FROM customers WHERE name LIKE '%Zo%1%') GROUP BY p.category, p.title ORDER BY n DESC, p.category, p.title;
SELECT SUM(o.amount) / 7.0 AS yearly FROM orders o, products p WHERE p.id = o.product_id AND p.category = 'Office' AND o.qty < (SELECT 0.8 * AVG(qty) FROM orders WHERE product_id = p.id);
SELECT SUM(amount * qty) AS revenue FROM orders, products WHERE (products.id = product_id AND category = 'Office' AND qty BETWEEN 1 AND 5 AND channel IN ('web', 'phone')) OR (products.id = product_id AND category = 'Technology' AND qty >= 4 AND qty <= 4 + 5 AND channel IN ('web', 'store'));
SELECT c.name FROM customers c WHERE c.id IN (SELECT o.customer_id FROM orders o WHERE o.product_id IN (SELECT id FROM products WHERE title LIKE 'Tisch%') AND o.qty > (SELECT 0.5 * SUM(p.qty) FROM orders p WHERE p.customer_id = o.customer_id AND p.placed >= '2024-01-01')) ORDER BY c.name;
SELECT c.name, COUNT(*) AS n FROM customers c, orders o WHERE c.id = o.customer_id AND o.status = 'paid' AND EXISTS (SELECT * FROM orders p WHERE p.product_id = o.product_id AND p.customer_id <> o.customer_id AND p.qty = 12) AND NOT EXISTS (SELECT * FROM orders p WHERE p.product_id = o.product_id AND p.customer_id <> o.customer_id AND p.amount > 430) GROUP BY c.name ORDER BY n DESC, c.name LIMIT 30;
SELECT p.id, p.title, o.amount FROM products p, orders o WHERE p.id = o.product_id AND o.amount = (SELECT MIN(q.amount) FROM orders q, customers c WHERE p.id = q.product_id AND c.id = q.customer_id AND c.region = 'east') ORDER BY p.id, o.amount;
SELECT nation, y, SUM(a) AS profit FROM (SELECT c.region AS nation, YEAR(o.placed) AS y, o.amount * (1 - o.qty / 100) - p.price * o.qty AS a FROM orders o, customers c, products p WHERE c.id = o.customer_id AND p.id = o.product_id AND p.title LIKE '%a%') x GROUP BY nation, y ORDER BY nation, y DESC;

-- Subqueries within subqueries, beside joins, and where little is selected.
-- @file public these are about what is pushed to the store whole

SELECT COUNT(*) AS n FROM customers c WHERE c.id IN (SELECT o.customer_id FROM orders o WHERE o.amount > (SELECT AVG(p.amount) FROM orders p WHERE p.customer_id = c.id) AND o.qty > 6);
SELECT COUNT(*) AS n FROM customers c WHERE c.age >= (SELECT MAX(d.age) - 5 FROM customers d WHERE d.region = c.region AND EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = d.id AND o.qty = 12));
SELECT p.id, (SELECT COUNT(*) FROM orders o WHERE o.product_id = p.id AND o.amount > (SELECT AVG(q.amount) FROM orders q WHERE q.product_id = p.id)) AS n FROM products p ORDER BY p.id;
SELECT r.name, (SELECT MAX(x.s) FROM (SELECT SUM(o.qty) AS s FROM orders o JOIN customers c ON c.id = o.customer_id WHERE c.region = 'north' GROUP BY c.id) x) AS most FROM regions r ORDER BY r.name;
SELECT COUNT(*) AS n FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.amount > (SELECT 2 * MAX(price) FROM products);
SELECT COUNT(*) AS n FROM orders WHERE qty = ANY (SELECT id FROM products WHERE category = 'Office');
SELECT COUNT(*) AS n FROM orders WHERE qty <> ALL (SELECT id FROM products WHERE category = 'Office');
SELECT COUNT(*) AS n FROM orders o LEFT JOIN customers c ON c.id = o.customer_id AND c.id IN (SELECT id FROM customers WHERE age > 50) WHERE c.id IS NULL;
SELECT COUNT(*) AS n FROM customers c WHERE c.id NOT IN (SELECT o.customer_id FROM orders o WHERE o.customer_id IS NOT NULL AND o.product_id IN (SELECT p.id FROM products p WHERE p.price BETWEEN 20 AND 40));
SELECT c.segment, COUNT(*) AS n FROM customers c WHERE 3 < (SELECT COUNT(*) FROM orders o WHERE o.customer_id = c.id AND o.status IN ('paid', 'shipped')) GROUP BY c.segment HAVING COUNT(*) > (SELECT COUNT(*) / 20 FROM customers) ORDER BY c.segment;
SELECT c.segment, (SELECT COUNT(*) FROM customers d WHERE d.segment = c.segment AND d.age > 50) AS n FROM customers c GROUP BY c.segment ORDER BY c.segment;
SELECT c.region, MAX((SELECT MAX(o.amount) FROM orders o WHERE o.customer_id = c.id)) AS m, MIN((SELECT MIN(o.amount) FROM orders o WHERE o.customer_id = c.id)) AS l FROM customers c GROUP BY c.region ORDER BY c.region;
SELECT COUNT(*) AS n FROM orders o WHERE o.amount / (SELECT MAX(q.amount) FROM orders q WHERE q.customer_id = o.customer_id) > 0.75;
SELECT ROUND(SUM(o.amount / (SELECT SUM(q.amount) FROM orders q WHERE q.product_id = o.product_id)), 2) AS s FROM orders o;
SELECT COUNT(*) AS n FROM orders o WHERE o.amount - (SELECT p.price FROM products p WHERE p.id = o.product_id) BETWEEN 100 AND 200;
SELECT DATE_FORMAT((SELECT MAX(placed) FROM orders), '%Y-%m') AS m, DATEDIFF((SELECT MAX(placed) FROM orders), (SELECT MIN(placed) FROM orders)) AS d;
SELECT COUNT(*) AS n FROM orders WHERE placed > (SELECT MAX(placed) FROM orders) - INTERVAL 6 MONTH;
SELECT COUNT(*) AS n FROM orders WHERE placed >= (SELECT MIN(shipped) FROM orders) - INTERVAL 1 YEAR AND shipped IS NOT NULL;
SELECT CONCAT((SELECT name FROM regions ORDER BY name LIMIT 1), '/', status) AS k, COUNT(*) AS n FROM orders GROUP BY k ORDER BY k;
SELECT COUNT(*) AS n FROM customers WHERE (SELECT region) = 'north' AND age > (SELECT 40);
SELECT COUNT(*) AS n FROM customers WHERE region = (SELECT name FROM regions WHERE name = 'north') AND city <> (SELECT MIN(city) FROM customers);
SELECT COUNT(*) AS n FROM customers WHERE region LIKE (SELECT 'n%');
SELECT NOT EXISTS (SELECT 1 FROM orders WHERE qty > 12) AS none, EXISTS (SELECT 1 FROM orders WHERE qty = 12) AS some;
SELECT x.k, x.n FROM (SELECT (SELECT p.category FROM products p WHERE p.id = o.product_id) AS k, COUNT(*) AS n FROM orders o GROUP BY k) x WHERE x.n > (SELECT COUNT(*) / 4 FROM orders) ORDER BY x.k;
SELECT GREATEST((SELECT MAX(qty) FROM orders), (SELECT MAX(id) FROM products)) AS g, LEAST((SELECT MIN(age) FROM customers), 10) AS l;

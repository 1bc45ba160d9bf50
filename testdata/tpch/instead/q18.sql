SELECT COUNT(*) AS large_orders, SUM(quantity) AS quantity
FROM (
	SELECT o_custkey, o_orderkey, SUM(l_quantity) AS quantity
	FROM orders, lineitem
	WHERE o_orderkey = l_orderkey
	GROUP BY o_custkey, o_orderkey) AS per_order
WHERE quantity > 300

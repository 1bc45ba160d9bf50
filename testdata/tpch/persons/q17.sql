SELECT SUM(a) / 7.0 AS avg_yearly
FROM (
	SELECT o_custkey, SUM(l_extendedprice) AS a
	FROM lineitem, orders, part
	WHERE l_orderkey = o_orderkey AND p_partkey = l_partkey AND p_brand = 'Brand#23' AND p_container = 'MED BOX'
		AND l_quantity < (SELECT 0.2 * AVG(l_quantity) FROM lineitem WHERE l_partkey = p_partkey)
	GROUP BY o_custkey) AS persons

SELECT l_returnflag, l_linestatus, SUM(a) AS sum_qty, SUM(b) AS sum_base_price, SUM(c) AS sum_disc_price, SUM(d) AS sum_charge,
	SUM(a) / SUM(n) AS avg_qty, SUM(b) / SUM(n) AS avg_price, SUM(e) / SUM(n) AS avg_disc, SUM(n) AS count_order
FROM (
	SELECT l_returnflag, l_linestatus, o_custkey, SUM(l_quantity) AS a, SUM(l_extendedprice) AS b, SUM(l_extendedprice * (1 - l_discount)) AS c,
		SUM(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS d, SUM(l_discount) AS e, COUNT(*) AS n
	FROM lineitem, orders
	WHERE l_orderkey = o_orderkey AND l_shipdate <= DATE '1998-12-01' - INTERVAL 90 DAY
	GROUP BY l_returnflag, l_linestatus, o_custkey) AS persons
GROUP BY l_returnflag, l_linestatus
ORDER BY l_returnflag, l_linestatus

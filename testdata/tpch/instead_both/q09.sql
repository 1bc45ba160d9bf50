SELECT SUM(l_extendedprice * (1 - l_discount) - ps_supplycost * l_quantity) AS sum_profit
FROM part, supplier, lineitem, partsupp, orders
WHERE s_suppkey = l_suppkey AND ps_suppkey = l_suppkey AND ps_partkey = l_partkey AND p_partkey = l_partkey
	AND o_orderkey = l_orderkey AND p_name LIKE '%green%' AND o_orderdate >= DATE '1997-01-01' AND o_orderdate < DATE '1998-01-01'

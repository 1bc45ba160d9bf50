SELECT r_name, SUM(l_extendedprice * (1 - l_discount)) AS revenue
FROM lineitem, supplier, nation, region
WHERE l_suppkey = s_suppkey AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey
	AND l_shipdate >= DATE '1996-01-01' AND l_shipdate < DATE '1996-01-01' + INTERVAL 3 MONTH
GROUP BY r_name
ORDER BY revenue DESC

SELECT n_name, SUM(l_extendedprice * (1 - l_discount)) AS revenue
FROM lineitem, supplier, nation
WHERE l_suppkey = s_suppkey AND s_nationkey = n_nationkey
	AND l_shipdate >= DATE '1996-01-01' AND l_shipdate < DATE '1996-01-01' + INTERVAL 3 MONTH
GROUP BY n_name
ORDER BY revenue DESC

SELECT n_name, SUM(l_quantity) AS quantity
FROM lineitem, part, supplier, nation
WHERE l_partkey = p_partkey AND p_name LIKE 'forest%' AND l_suppkey = s_suppkey AND s_nationkey = n_nationkey
	AND l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1994-01-01' + INTERVAL 1 YEAR
GROUP BY n_name
ORDER BY quantity DESC

SELECT SUM(l_quantity) AS quantity
FROM lineitem, part
WHERE l_partkey = p_partkey AND p_name LIKE 'forest%'
	AND l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1994-01-01' + INTERVAL 1 YEAR

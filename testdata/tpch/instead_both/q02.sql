SELECT n_name, COUNT(*) AS offers, SUM(ps_supplycost) AS cost
FROM part, supplier, partsupp, nation, region
WHERE p_partkey = ps_partkey AND s_suppkey = ps_suppkey AND p_size = 15 AND p_type LIKE '%BRASS'
	AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = 'EUROPE'
GROUP BY n_name
ORDER BY n_name

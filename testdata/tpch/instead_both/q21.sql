SELECT r_name, COUNT(*) AS numwait
FROM supplier, lineitem, orders, nation, region
WHERE s_suppkey = l_suppkey AND o_orderkey = l_orderkey AND o_orderstatus = 'F' AND l_receiptdate > l_commitdate
	AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey
GROUP BY r_name
ORDER BY numwait DESC, r_name

SELECT n_name, COUNT(*) AS numwait
FROM supplier, lineitem, orders, nation
WHERE s_suppkey = l_suppkey AND o_orderkey = l_orderkey AND o_orderstatus = 'F' AND l_receiptdate > l_commitdate AND s_nationkey = n_nationkey
GROUP BY n_name
ORDER BY numwait DESC, n_name

SELECT EXTRACT(YEAR_MONTH FROM o_orderdate) AS order_month, SUM(l_extendedprice * (1 - l_discount)) AS revenue
FROM customer, orders, lineitem
WHERE c_mktsegment = 'BUILDING' AND c_custkey = o_custkey AND l_orderkey = o_orderkey
	AND o_orderdate >= DATE '1994-11-01' AND o_orderdate < DATE '1995-03-15' AND l_shipdate > DATE '1995-03-15'
GROUP BY order_month
ORDER BY revenue DESC

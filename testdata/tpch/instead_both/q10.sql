SELECT SUM(l_extendedprice * (1 - l_discount)) AS revenue, COUNT(*) AS returned
FROM orders, lineitem
WHERE l_orderkey = o_orderkey AND o_orderdate >= DATE '1993-10-01' AND o_orderdate < DATE '1993-10-01' + INTERVAL 3 MONTH
	AND l_returnflag = 'R'

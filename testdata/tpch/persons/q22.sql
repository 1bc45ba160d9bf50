SELECT cntrycode, SUM(n) AS numcust, SUM(a) AS totacctbal
FROM (
	SELECT SUBSTRING(c_phone, 1, 2) AS cntrycode, c_custkey, COUNT(*) AS n, SUM(c_acctbal) AS a
	FROM customer
	WHERE SUBSTRING(c_phone, 1, 2) IN ('13', '31', '23', '29', '30', '18', '17')
		AND c_acctbal > (
			SELECT AVG(c_acctbal)
			FROM customer
			WHERE c_acctbal > 0.00 AND SUBSTRING(c_phone, 1, 2) IN ('13', '31', '23', '29', '30', '18', '17'))
		AND NOT EXISTS (SELECT * FROM orders WHERE o_custkey = c_custkey)
	GROUP BY cntrycode, c_custkey) AS persons
GROUP BY cntrycode
ORDER BY cntrycode

// Package ratio finds the columns of a result that are computed by hand from several answers and
// whose exact values lie in a known range: shares, from 0 to 1, and correlations, from -1 to 1.
//
//	SELECT SUM(CASE WHEN c THEN x ELSE 0 END) / SUM(x) FROM t
//	SELECT city, 100 * COUNT(CASE WHEN c THEN 1 END) / COUNT(*) FROM t GROUP BY city
//	SELECT city, COUNT(*) / (SELECT COUNT(*) FROM t) FROM t GROUP BY city
//	SELECT (SELECT SUM(x) FROM t WHERE c) / (SELECT SUM(x) FROM t)
//	SELECT (AVG(x*y) - AVG(x)*AVG(y)) / (STDDEV_POP(x) * STDDEV_POP(y)) FROM t
//
// Each answer has noise of its own, so that the quotient may leave the range. Which columns these
// are follows from the statement alone, and whether a value is outside from what is sent: both are
// public.
package ratio

SELECT COUNT(*) AS large_orders, SUM(o_totalprice) AS total
FROM orders
WHERE o_totalprice > 350000

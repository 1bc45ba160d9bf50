// Package cells answers aggregations from the cells of DP views, which are released already.
//
//	SELECT region, COUNT(*) FROM orders WHERE product = 'tea' GROUP BY region
//	SELECT region, product, DATE(placed) AS day, COUNT(*) AS n FROM orders GROUP BY 1, 2, 3    a view
//
// An aggregation follows from the cells of a view where
//
//   - it reads the same rows: the same FROM clause, and the conditions of the view's definition are
//     among its own;
//   - what else it filters and groups by has one value in each cell. That is tried on all public
//     values of what these expressions are made of (keys.Finder.Together), so WHERE placed >=
//     '2025-06-03' follows from days, and WHERE placed >= '2025-06-03 12:00' does not;
//   - each row that it counts is in a cell: a row whose day is NULL is in none;
//   - its aggregates are the view's measures, or quotients of two.
//
// Then each of its groups is a union of cells, and its answer a sum of released numbers:
// post-processing, which costs nothing whatever is asked. Nothing here reads a row of a protected
// table, and what is decided follows from definitions, domains and the text of the statement.
package cells

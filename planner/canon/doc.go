// Package canon orders expressions, so that statements that differ in how they are written are
// planned alike, and one finds the other's stored answer:
//
//	operands of AND OR XOR = <=> + *, members of IN, a < b and b > a     in the order of their texts
//	1.0 and 1.00 in comparisons, 'x' and _utf8mb4'x'                     one spelling
//
// The planner orders by the same texts the conjuncts of WHERE and of inner joins, the two sides of
// inner and cross joins, the columns of SELECT and the keys of GROUP BY. White space, case,
// comments and the names of tables, columns and derived tables are in no scan; COUNT(1) is
// COUNT(*).
//
// All of it is done to what is executed, and the key of a release is a digest of what is executed.
// So each step has to preserve the meaning of a query, and none has to be complete: operands that
// are not ordered cost a second charge, and two queries of different meaning never share a key,
// because they do not execute the same.
package canon

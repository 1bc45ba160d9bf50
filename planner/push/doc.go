// Package push hands queries on public tables to the store, as one generated query each.
//
// In goes a bound tree over tables that the session may read as they are. Out comes the tree with
// leaves that run generated queries in the place of what the store answers as MySQL would. It has
// no part in any private answer: relations are written as they stand, and charge nothing.
package push

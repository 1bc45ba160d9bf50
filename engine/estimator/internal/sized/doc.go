// Package sized brings the input of an estimator whose number of persons is public
// (estimator.Params.Sized) to exactly that many persons.
//
// The number comes with the input: estimator.Input.Persons. It is counted from the unit column of
// the table, in the snapshot that the scan reads, and no expression of a query enters it. The scan
// should have one entry with a value for each of these persons, as the planner gives out a number
// as public only where every row has a value. Should that ever be wrong of an expression, the
// length of the input is private: it tells how many persons have a value. So no estimator uses it.
//
// # The input that an estimator works on
//
// An entry of the input is a person with at least one row. Let A be the list of the entries, n the
// public number.
//
//	|A| = n   A
//	|A| < n   A and n − |A| copies of one public entry: one row with the middle of the declared bounds,
//	          or with the number of the public range nearest 0
//	|A| > n   the n least entries of A, in the order of all their numbers
//
// Claim: if two lists of entries differ in one entry (one exchanged, or one more or less), then
// what is made of them differs in one exchanged entry at most, but for the order, which means
// nothing to an estimator.
//
// Proof: let C be what the two lists have in common, A = C + a and B = C + b, where one of a and b
// may be missing. If |C| < n, both results hold all of C, at most one entry more of their list, and
// copies of the public entry: as both have n entries, they have n−1 in common. If |C| ≥ n, the n
// least entries of C + a hold the n−1 least of C, since a displaces one at most; so do those of C +
// b.
//
// So an estimator whose loss holds for n persons of whom one is exchanged has that loss for any two
// such lists, and none of its steps needs an argument of its own for a person who has no value, or
// has one too many.
package sized

// Package mean holds the private sum, the mean of persons and the mean of rows of one scalar.
//
// Each estimator states its sensitivities for both neighbour relations: one person more or less, with all
// rows, and one person's rows exchanged, where the number of persons is public (Params.Sized) or private.
package mean

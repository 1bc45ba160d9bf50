// Package cover estimates the mean of rows of many a person under pure differential privacy, in one and two dimensions, by the
// exponential mechanism over a cover of the possible means: Algorithms 5 to 8 of [AKM25].
package cover

// Package groups answers counts, sums and means of all groups of a GROUP BY in one release: a person is one sparse vector over groups and
// aggregates, clipped as a whole, instead of being left out of groups beyond a bound.
package groups

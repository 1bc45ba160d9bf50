// Package continual releases running totals of a span of days, one day after the other, for one
// loss.
//
//	x_t          what day t adds to a count or a sum
//	y = B·x + z  what is released of it: B is lower triangular, z is noise, one number a day
//	B⁻¹·y        the days' values; their running sums are the running totals
//
// B is the square root of the matrix of ones that adds the days up, rounded to integers: so a day's
// number rests on that day and on those before it, and the noise of a total of many days stays
// near that of few. A person counts for at most Bound over all days together, however that is
// spread over them; who calls Add sees to it.
//
// docs/proofs/continual.md has the argument for one person's loss.
package continual

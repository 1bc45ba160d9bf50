// Package groups answers counts, sums and means of all groups of a GROUP BY in one release: a
// person is one sparse vector over groups and aggregates, clipped as a whole, instead of being left
// out of groups beyond a bound.
//
//	prepared   each person's entries brought into their public ranges, means centred        layout.go
//	looks      centre and spread of means, the scale of each aggregate, by noisy searches   firstpass.go
//	measured   in one reading of all persons: the sum as it is, and each column's squares   firstpass.go
//	shape      of the noise, by the groups' shares of persons' vectors                      means.go
//	radius     of the weighted norm, from one noisy histogram                               radius.go
//	sum        the clipped vectors added up, with noise on every coordinate                 groups.go, plan.go
//	plan       of many groups: noise shaped by a first sum                                  plan.go
//	answers    counts and sums as they come, means as ratios that lean on one another      groups.go, means.go, common.go
//	rest       what is told of too few persons: without means, then without sums           common.go
//
// # Why one vector
//
// A mechanism for each group bounds a person to L0 groups and L in each: noise L·√(L0/(2ρ)) a
// group. Those vectors lie in the ball of radius C = L·√L0, so that the clip of the whole vector
// has the same noise. A person of m > L0 groups keeps L0 of them there, a share L0/m; here the
// vector is shortened to √(L0/m). So nobody loses more, and a few large numbers and many small ones
// use the same allowance ([HLY21] section 3.1, with d the number of groups).
//
// # Privacy
//
// A person's clipped vector y has ‖y‖_w ≤ C, whatever the person's rows are (clipSum). One person
// more or less moves the sum by C, one exchanged by 2C, and by √2·C if no coordinate of any vector
// is negative; in either case in all groups together, so that the loss is not multiplied by the
// number of groups, nor is group privacy used. All of it is ρ-zCDP for the relation that Params
// names, by adaptive composition of the steps that Steps lists: what a step uses of the ones before
// it is released.
package groups

// Package clipping chooses the size at which persons' totals are clipped, and says how much the
// clip takes away.
//
//	in    for each person a whole number, its total in grid steps, of either sign
//	out   a radius C, what clipping at C is expected to take from the sum, and a bound on that
//
// # Steps
//
//	histogram   persons by the octave of |total|, with noise       search.go, law.go
//	gate        the greatest octave that stands out of the noise   gate.go
//	laws        a library of laws of totals, and of two together,  law.go, fit.go, losses.go
//	            weighed by how well each explains all noisy counts
//	choice      the radius of the least expected error over the    choose.go
//	            weighed laws; the law of what is cut there         losses.go
//	finer       persons by eighths of octaves about the radius,    search.go
//	            with noise, where many persons stand out
//	squares     the same of squares of numbers, for variances      law.go
//
// # Privacy
//
// A person is in one bucket at most: the histogram is the only release (Search), but for a second
// one where the first shows many persons (Finer), for which it is the same. All that follows is a
// function of the noisy counts and of public numbers.
//
// # Why a library of laws
//
// With few persons the noise hides those who have the most, and they may hold most of the sum. The
// least radius that stands out then loses a part that nobody sees. The counts that do stand out say
// how the totals are spread; laws that agree with them say how much may lie beyond. Where they
// disagree about it, the interval is wide.
//
// One person far beyond all others changes one count by one, and no method sees that: the interval
// is for tails that go on as the laws of the library do, up to wideOctaves beyond the gate.
package clipping

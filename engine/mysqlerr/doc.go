// Package mysqlerr turns errors outward: into MySQL's numbers, states and words, as far as a client
// may see them, and into the log what it may not. On protected tables only refusals and conditions
// of the statement's own text get out.
package mysqlerr

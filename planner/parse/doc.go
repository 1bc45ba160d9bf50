// Package parse rewrites what the grammar has read, syntax tree to syntax tree, before anything is bound: what the binder would
// refuse or answer badly.
package parse

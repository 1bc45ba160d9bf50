// Package parse rewrites what the grammar has read, syntax tree to syntax tree, before anything is
// bound: what the binder would refuse or answer badly (Adapt). The tree of the statement that runs
// is in its context (WithStatement), so that its text is parsed once.
package parse

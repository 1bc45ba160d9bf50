// Package bench measures the whole server over its own wire, each private query beside an exact
// counterpart in the same process. It holds nothing but benchmarks; docs/benchmarks.md quotes them.
package bench

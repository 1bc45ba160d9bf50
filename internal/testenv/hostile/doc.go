// Package hostile has values of the store's types that expressions and aggregates must bear: the
// ends, zeros, what is no number and no day, texts that are nearly numbers, dates and JSON, empty
// and long ones. And it tells what functions of the store a statement calls.
package hostile

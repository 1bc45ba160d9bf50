// Package state is what the records determine: budgets, and what each holder has spent, by window
// and by day. A state changes only by records, one by one, or many at once from a part; its
// encoding is what checkpoints and archives seal.
package state

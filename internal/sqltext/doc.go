// Package sqltext quotes names and texts for statements: of MySQL, as clients send and read them,
// and of the store.
package sqltext

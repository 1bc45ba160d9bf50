// Package settings resolves the privacy parameters of one statement.
//
// In go the layers of the hints and of the session, and the tables with their defaults. Out comes
// what a statement may spend on each table, in which currency, and every word that chooses a
// method. The parameters themselves, with their ranges, are those of internal/params.
package settings

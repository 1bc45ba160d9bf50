// Package fileimport loads files into a table of a data directory that nobody serves, or reads them
// for a table of a running server.
package fileimport

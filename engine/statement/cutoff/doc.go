// Package cutoff ends statements early: at their time limit, when their client has gone away, and,
// where nothing else ends them, by closing the connection.
package cutoff

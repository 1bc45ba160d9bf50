// Package client is what a client of a server does whatever it is shown on: it takes statements
// from a text, adds intervals to a question, reads answers, and words what they cost. The shell and
// the console are made of it.
package client

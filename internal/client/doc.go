// Package client is what a client of a server does whatever it is shown on: it takes statements
// from a text, adds intervals to a question, reads answers, and words what they cost. The shell,
// the console and the tools of agents are made of it.
package client

// Package web is what all that is served over HTTP has in common: the socket with its limits,
// sessions of browsers, and the headers of what they are sent.
package web

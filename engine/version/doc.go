// Package version is what the server calls itself towards clients, and the version of the program.
package version

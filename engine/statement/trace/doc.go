// Package trace is what the server notes of one statement while it runs, and how it ended: for the
// log, the audit log and whoever watches. Of the statement's text it keeps what is left without its
// literals.
package trace

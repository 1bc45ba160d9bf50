// Package fuzz makes random statements for the tests that compare the server with MariaDB: those on
// public rows (Public) and those that protected rows answer (Private), and for the test of what is
// computed from such answers (Outer). A statement is a function of
// a seed and its number. It is a tree, of which Smaller leaves parts out, so that a difference can
// be shown in a short form.
package fuzz

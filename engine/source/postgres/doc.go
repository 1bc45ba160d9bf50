// Package postgres reads databases of PostgreSQL in which lakes have their catalogues. Tables of
// such a server cannot be attached.
//
// A reading is one transaction of REPEATABLE READ, which writes nothing. The server's environment
// does not decide where it connects to, nor how.
package postgres

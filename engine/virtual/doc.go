// Package virtual is what go-mysql-server asks of databases and tables that no store keeps: their rows are made when they
// are read, by the server itself. A package that has some embeds the types here and says what its tables hold.
package virtual

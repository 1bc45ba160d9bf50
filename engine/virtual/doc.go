// Package virtual is what go-mysql-server asks of databases and tables that no store keeps, and of
// plans' nodes without children: their rows are made when they are read, by the server itself. A
// package that has some embeds the types here and says what they hold.
package virtual

// Package upload loads files into a table of a running server, as a client of it: it reads them as
// an import into an unserved directory does, and sends their rows by LOAD DATA LOCAL INFILE. All of
// a load is there or nothing. Where reading fails in the middle, a last line that no table takes
// has the server undo the statement; a connection that breaks undoes it, too; and the table that
// was made for the rows is dropped.
package upload

package collation

var NewTable = newTable

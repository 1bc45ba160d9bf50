// Package infile reads the client's file of LOAD DATA LOCAL INFILE into the rows of an INSERT. Its
// errors name a row by its number, and nothing of what is in it.
package infile

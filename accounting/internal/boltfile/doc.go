// Package boltfile verifies the pages of a bbolt file before bbolt follows them, and turns bbolt's
// panics, and faults on its mapped pages, into errors. It knows the bucket of records by its name,
// whose leaves it may skip.
package boltfile

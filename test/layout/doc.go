// Package layout tests the shape of the module: which packages may import which, that each one
// documents itself, and that what the documents point at exists. It holds nothing but tests.
package layout

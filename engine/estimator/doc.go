// Package estimator is the contract between the planner and the numeric core: what a mechanism
// declares from public facts alone (loss, sensitivity, expected error, minimum number of persons),
// and how it turns one group's block of per-person integers into a noisy answer.
//
// Nothing here knows SQL, tables or clocks. All data are integers on a public grid; a mechanism
// touches data only through functions of one person at a time and integer sums across persons (of
// what belongs to two persons at once, through largest flows: package flow), and every number that
// depends on data leaves through noise.Noiser. The packages below this one hold the mechanisms, one
// a file.
//
// Every mechanism is built for a neighbour relation (Relation), add-remove or replace-one, and
// declares its loss for that one. Under replace-one the number of persons is public only where
// Params.Sized says so. It comes with the input then, counted apart from it: Input.Persons.
package estimator

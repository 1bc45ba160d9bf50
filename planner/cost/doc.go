// Package cost divides what a statement may spend among its aggregations, and completes their
// releases.
//
// In go the aggregations of a statement and its settings. Out come estimators with their shares of
// the loss, the loss of each release, and the charges by account. An aggregate that names an error
// gets what that error costs, as far as public facts and earlier answers tell. Nothing is charged
// here.
package cost

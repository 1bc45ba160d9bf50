// Package person estimates the mean of rows where every person has many of them: the person-level estimators of [AKM25], which
// clip the persons' means to what a moment bound on the rows lets them differ by.
package person

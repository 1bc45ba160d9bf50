// Command scrim-bench measures the errors of the estimators and compares them with the papers'. It
// is a binary of its own: a server needs no plots and no experiments.
package main

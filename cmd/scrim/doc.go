// Command scrim is the whole product in one binary: the server, the importer and the demonstration.
// It holds flags and wiring only; main is one call of run, which the tests start as processes too.
package main

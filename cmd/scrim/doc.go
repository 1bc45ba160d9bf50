// Command scrim is the whole product in one binary: the server, the importer, the demonstration and the accuracy bench.
// It holds flags and wiring only; main is one call of run, which the tests start as processes too.
package main

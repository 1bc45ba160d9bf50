// Package metrics is what the server tells Prometheus: statements, refusals, releases, budgets, the
// ledger, connections and the Go runtime.
//
// Names of accounts of the server are never labels, nor are statements: labels are words of the
// product, and the names of protected tables and entities. How many series there are is bounded,
// whatever clients send.
//
// [Metrics] is told about every statement ([watch.Observer]). Durations are rounded up to the end
// of their bucket before they are counted or summed, so that two readings around one statement tell
// its bucket and nothing finer. Budgets, ledger and connections are read when Prometheus asks, at
// most once in [stale]. What is told of budgets follows from public facts alone, as the charges do.
package metrics

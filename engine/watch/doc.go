// Package watch is what the server tells about itself while it runs: one [Event] for each statement
// that ended, handed to whoever watches. An event holds nothing of rows and no literal of the
// statement. The audit log, the metrics and the dashboard are made of events.
package watch

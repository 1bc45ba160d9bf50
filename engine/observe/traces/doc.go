// Package traces tells an operator's collector, by OpenTelemetry, what statements ran and which of
// their steps took how long. It is off unless the standard environment variables switch it on, and
// costs nothing then.
//
//	variables ─▶ [Open] ─▶ [Exporter], an observer of statements ─▶ spans ─▶ OTLP over HTTP
//
// A statement is a span, and so is each of its steps. All spans of a statement are made when it
// has ended, from what the server notes of it anyway ([watch.Event]): none can hold a literal, a
// text or a value of a table, because an event's are without.
//
// # What is not told
//
//   - The statement's text: its digest is, and by which word it begins.
//   - Times finer than a decade, as in the metrics, but where they follow from public rows alone
//     ([watch.Event.Public]). A span has the outer ends of the decades that its begin and its end
//     are in, counted from the statement's begin. So no step ends after its statement.
//   - How far a private statement came that gave no answer, and what was done again.
//   - Reports to collections: their events have no id.
//
// go-mysql-server makes spans of its own, which hold texts of statements. Its contexts have a
// tracer that keeps none, and no provider of this process is ever made the global one.
package traces

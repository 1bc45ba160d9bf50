package traces

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"scrim/engine/watch"
)

// Statement implements watch.Observer. It does not block: what a full queue does not take is lost.
func (e *Exporter) Statement(s watch.Event) {
	if s.ID == "" {
		return // reports to a collection
	}
	ctx, root := e.tracer.Start(under(s.Parent), word(s.Statement), trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(s.At))
	if !root.IsRecording() {
		return // not sampled
	}
	root.SetAttributes(attributes(s)...)
	if s.Outcome != watch.Answered {
		root.SetStatus(codes.Error, s.Cause)
	}
	within := make([]context.Context, len(s.Steps))
	ends := func(d time.Duration) (from, to time.Time) {
		first, last := d, d
		if !s.Public {
			first, last = watch.Decade(d)
		}
		return s.At.Add(first), s.At.Add(last)
	}
	for i, step := range s.Steps {
		parent := ctx
		if step.Within >= 0 {
			parent = within[step.Within]
		}
		from, _ := ends(step.From)
		_, to := ends(step.To)
		var span trace.Span
		within[i], span = e.tracer.Start(parent, step.Name, trace.WithTimestamp(from))
		span.End(trace.WithTimestamp(to))
	}
	_, end := ends(s.Duration)
	root.End(trace.WithTimestamp(end))
}

// attributes are the facts of a statement that an operator is told of.
func attributes(s watch.Event) []attribute.KeyValue {
	out := []attribute.KeyValue{
		attribute.String("db.operation.name", word(s.Statement)),
		attribute.String("scrim.statement", s.ID),
		attribute.String("scrim.digest", s.Digest),
		attribute.String("scrim.account", s.Principal),
		attribute.Int64("scrim.connection", int64(s.Client)),
		attribute.String("scrim.outcome", string(s.Outcome)),
		attribute.Bool("scrim.private", s.Private),
		attribute.Bool("scrim.coarse", !s.Public),
	}
	if s.Database != "" {
		out = append(out, attribute.String("db.namespace", s.Database))
	}
	if s.Private {
		out = append(out, attribute.StringSlice("scrim.tables", s.Tables), attribute.Int("scrim.replayed", s.Replayed), attribute.Int("scrim.charged", s.Charged))
	}
	if len(s.Charges) > 0 {
		out = append(out, attribute.Int64Slice("scrim.ledger", entries(s.Charges)))
	}
	if s.Outcome != watch.Answered {
		out = append(out, attribute.String("error.type", s.Cause))
	}
	if s.Errno != 0 {
		out = append(out, attribute.String("db.response.status_code", strconv.Itoa(s.Errno)))
	}
	return out
}

// entries are the ledger's entries as numbers that a span can hold.
func entries(ids []uint64) []int64 {
	out := make([]int64, len(ids))
	for i, id := range ids {
		out[i] = int64(id)
	}
	return out
}

// under is a context within the trace that a client says it is part of.
func under(parent string) context.Context {
	if parent == "" {
		return context.Background()
	}
	return propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{"traceparent": parent})
}

// words are those that statements begin with.
var words = []string{"SELECT", "WITH", "SHOW", "EXPLAIN", "DESCRIBE", "CALL", "SET", "USE", "PREPARE", "EXECUTE", "DEALLOCATE", "INSERT", "UPDATE", "DELETE",
	"REPLACE", "TRUNCATE", "LOAD", "CREATE", "ALTER", "DROP", "RENAME", "GRANT", "REVOKE", "BEGIN", "START", "COMMIT", "ROLLBACK", "KILL"}

// word is the word that a statement begins with, where that is one of SQL's.
func word(statement string) string {
	for first := range strings.FieldsSeq(strings.TrimLeft(statement, " \t\r\n(")) {
		if first = strings.ToUpper(first); slices.Contains(words, first) {
			return first
		}
		break
	}
	return "statement"
}

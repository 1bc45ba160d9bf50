package traces

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"scrim/engine/observe/version"
	"scrim/engine/observe/watch"
	"scrim/internal/lists"
)

// Exporter sends the spans of statements. It is safe for concurrent use.
type Exporter struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
}

var _ watch.Observer = (*Exporter)(nil)

// Open returns an exporter as the environment variables of this process say, nil where they ask for
// none. The log is told of what could not be sent.
func Open(ctx context.Context, getenv func(string) string, log zerolog.Logger) (*Exporter, error) {
	if wanted, err := Wanted(getenv); err != nil || !wanted {
		return nil, err
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn().Err(err).Msg("traces") }))
	out, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT: %w", err)
	}
	about, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "scrim"), attribute.String("service.version", version.Number)), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	p := sdk.NewTracerProvider(sdk.WithBatcher(out), sdk.WithResource(about))
	return &Exporter{provider: p, tracer: p.Tracer("scrim")}, nil
}

// closeTimeout bounds how long Close waits for a collector.
const closeTimeout = 5 * time.Second

// Close sends what has not been sent, and ends.
func (e *Exporter) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	return e.provider.Shutdown(ctx)
}

// Wanted reports whether the environment variables ask for traces. An error says that they ask for
// what there is not. getenv is os.Getenv.
//
// Traces are sent where OTEL_TRACES_EXPORTER is otlp, or where it is empty and an endpoint is
// given. The remaining variables are read by OpenTelemetry's own packages.
func Wanted(getenv func(string) string) (bool, error) {
	if strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") {
		return false, nil
	}
	switch exporter := strings.TrimSpace(getenv("OTEL_TRACES_EXPORTER")); {
	case exporter == "none", exporter == "" && cmp.Or(getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), getenv("OTEL_EXPORTER_OTLP_ENDPOINT")) == "":
		return false, nil
	case exporter != "" && exporter != "otlp":
		return false, fmt.Errorf("OTEL_TRACES_EXPORTER: want otlp or none, have %q", exporter)
	}
	spoken := cmp.Or(getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"), getenv("OTEL_EXPORTER_OTLP_PROTOCOL"), protocol)
	if spoken != protocol {
		return false, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL: want http/protobuf, have %q; collectors take it at port 4318", spoken)
	}
	return true, nil
}

// protocol is the only one that is spoken, and the default.
const protocol = "http/protobuf"

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
		out = append(out, attribute.Int64Slice("scrim.ledger", lists.Map(s.Charges, func(id uint64) int64 { return int64(id) })))
	}
	if s.Outcome != watch.Answered {
		out = append(out, attribute.String("error.type", s.Cause))
	}
	if s.Errno != 0 {
		out = append(out, attribute.String("db.response.status_code", strconv.Itoa(s.Errno)))
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

package engine

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"scrim/engine/observe/traces"
)

// otlp is a collector that keeps what it is sent.
type otlp struct {
	mu  sync.Mutex
	raw strings.Builder
	got []*spans.Span
}

func (o *otlp) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	b, err := io.ReadAll(q.Body)
	var m collector.ExportTraceServiceRequest
	if err != nil || proto.Unmarshal(b, &m) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.raw.Write(b)
	for _, rs := range m.ResourceSpans {
		for _, ss := range rs.ScopeSpans {
			o.got = append(o.got, ss.Spans...)
		}
	}
}

// of are the spans of the trace with an id, as names, and the span of the statement.
func (o *otlp) of(t *testing.T, trace string) (names []string, root *spans.Span) {
	t.Helper()
	for _, s := range o.got {
		if string(s.TraceId) == trace {
			if names = append(names, s.Name); s.Kind == spans.Span_SPAN_KIND_SERVER {
				root = s
			}
		}
	}
	if root == nil {
		t.Fatalf("no statement among %v", names)
	}
	return names, root
}

// TestTraces: a private, a public and a failing statement, each told with its steps, and nothing
// that stands in a statement or in a table.
func TestTraces(t *testing.T) {
	o := &otlp{}
	s := httptest.NewServer(o)
	defer s.Close()
	t.Setenv("OTEL_TRACES_EXPORTER", "otlp")
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", s.URL)
	env := map[string]string{"OTEL_TRACES_EXPORTER": "otlp"}
	e, err := traces.Open(t.Context(), func(name string) string { return env[name] }, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	_, _, _, ann := watched(t, func(c *Config) { c.Observers, c.Steps = append(c.Observers, e), true })
	parent := func(n string) string {
		return " /*traceparent='00-" + strings.Repeat(n, 32) + "-b7ad6b7169203331-01'*/"
	}
	trace := func(n byte) string { return strings.Repeat(string([]byte{n<<4 | n}), 16) }
	ann.exec("SELECT /*+ SET_VAR(dp_epsilon=0.777) */ COUNT(*), AVG(x) FROM s.t WHERE name <> 'secret-name' AND x < 987654.5" + parent("1"))
	ann.exec("SELECT a + 4242 FROM s.pub WHERE a <> 77" + parent("2"))
	if _, err := ann.try("SELECT name FROM s.t WHERE name = 'secret-name'" + parent("3")); err == nil {
		t.Error("raw rows were answered")
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}

	names, root := o.of(t, trace(1))
	for _, want := range []string{"parse", "plan", "rows", "reserve", "scan 1 of 1", "estimates"} {
		if !slices.Contains(names, want) {
			t.Errorf("no step %q in %v", want, names)
		}
	}
	for _, want := range []string{"scrim.ledger", "scrim.digest", "ann@%", "s.t", `"answered"`} {
		if !strings.Contains(root.String(), want) {
			t.Errorf("the private statement lacks %q: %v", want, root)
		}
	}
	// Offsets from the begin are ends of decades.
	for _, span := range o.got {
		if took := (span.EndTimeUnixNano - root.StartTimeUnixNano) / 1e6; string(span.TraceId) == trace(1) && !slices.Contains([]uint64{10, 100, 1000, 10000, 60000}, took) {
			t.Errorf("%s ends after %d ms", span.Name, took)
		}
	}
	names, root = o.of(t, trace(2))
	if !slices.Contains(names, "rows") || slices.Contains(names, "reserve") || strings.Contains(root.String(), "scrim.ledger") {
		t.Errorf("the public statement: %v, %v", names, root)
	}
	if took := root.EndTimeUnixNano - root.StartTimeUnixNano; took%1e6 == 0 && took < 1e10 {
		t.Errorf("the public statement's duration is rounded: %d ns", took)
	}
	_, root = o.of(t, trace(3))
	if text := root.String(); root.Status.GetCode() != spans.Status_STATUS_CODE_ERROR || !strings.Contains(text, "RAW_ROWS") || !strings.Contains(text, "1644") {
		t.Errorf("the refused statement: %v", root)
	}

	raw := o.raw.String()
	for _, not := range []string{"secret-name", "987654", "0.777", "4242", "77 ", "WHERE", "FROM", "COUNT", "AVG", "name <>", "password", "traceparent"} {
		if strings.Contains(raw, not) {
			t.Errorf("a span holds %q", not)
		}
	}
	steps := []string{"parse", "plan", "rows", "reserve", "estimates", "key selection"}
	for _, span := range o.got {
		if span.Kind != spans.Span_SPAN_KIND_SERVER && !slices.Contains(steps, span.Name) && !strings.HasPrefix(span.Name, "scan ") {
			t.Errorf("a span %q that is not ours", span.Name)
		}
	}
}

// TestNoStepsByDefault: a server that nobody asked for traces notes no steps.
func TestNoStepsByDefault(t *testing.T) {
	_, s, _, ann := watched(t)
	n := s.count()
	ann.exec("SELECT a FROM s.pub /*traceparent='00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'*/")
	if e := s.since(t, n, 1)[0]; e.Steps != nil || e.Parent != "" || e.Charges != nil {
		t.Errorf("got %+v", e)
	}
}

package traces_test

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"scrim/engine/observe/traces"
	"scrim/engine/observe/watch"
)

// receiver is a collector that keeps what it is sent.
type receiver struct {
	mu  sync.Mutex
	got []*spans.ResourceSpans
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	b, err := io.ReadAll(q.Body)
	var m collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(b, &m)
	}
	if err != nil || q.URL.Path != "/v1/traces" {
		http.Error(w, q.URL.Path, http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, m.ResourceSpans...)
}

// sent are the spans that a collector is sent for events, and the resource that they are of.
func sent(t *testing.T, env map[string]string, events ...watch.Event) (out []*spans.Span, resource string) {
	t.Helper()
	r := &receiver{}
	s := httptest.NewServer(r)
	defer s.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", s.URL)
	for k, v := range env {
		t.Setenv(k, v)
	}
	e := opened(t, env)
	for _, event := range events {
		e.Statement(event)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	for _, rs := range r.got {
		resource = rs.Resource.String()
		for _, ss := range rs.ScopeSpans {
			out = append(out, ss.Spans...)
		}
	}
	return out, resource
}

func opened(t *testing.T, env map[string]string) *traces.Exporter {
	t.Helper()
	e, err := traces.Open(t.Context(), func(name string) string {
		if name == "OTEL_EXPORTER_OTLP_ENDPOINT" {
			return "set"
		}
		return env[name]
	}, zerolog.Nop())
	if err != nil || e == nil {
		t.Fatalf("got %v, %v", e, err)
	}
	return e
}

var at = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// statement is a private statement of 1.5 s with two steps, of which one is a part of the other.
func statement() watch.Event {
	return watch.Event{
		ID: "abc", At: at, Duration: 1500 * time.Millisecond, Principal: "ann@%", Statement: "SELECT COUNT ( * ) FROM t WHERE x = ?", Digest: "d1",
		Outcome: watch.Answered, Private: true, Charged: 1, Tables: []string{"s.t"}, Charges: []uint64{7},
		Steps: []watch.Step{
			{Name: "rows", From: 3 * time.Millisecond, To: 1400 * time.Millisecond, Within: -1},
			{Name: "scan 1 of 1", From: 20 * time.Millisecond, To: 700 * time.Millisecond, Within: 0},
		},
	}
}

func named(t *testing.T, list []*spans.Span, name string) *spans.Span {
	t.Helper()
	i := slices.IndexFunc(list, func(s *spans.Span) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("no span %q among %v", name, list)
	}
	return list[i]
}

func offsets(s *spans.Span) [2]time.Duration {
	return [2]time.Duration{time.Unix(0, int64(s.StartTimeUnixNano)).Sub(at), time.Unix(0, int64(s.EndTimeUnixNano)).Sub(at)}
}

func TestStepsAreSpansInDecades(t *testing.T) {
	list, resource := sent(t, map[string]string{"OTEL_SERVICE_NAME": "clinic"}, statement())
	if len(list) != 3 || !strings.Contains(resource, "clinic") {
		t.Fatalf("got %d spans of %s", len(list), resource)
	}
	root, rows, scan := named(t, list, "SELECT"), named(t, list, "rows"), named(t, list, "scan 1 of 1")
	if string(rows.ParentSpanId) != string(root.SpanId) || string(scan.ParentSpanId) != string(rows.SpanId) || len(root.ParentSpanId) != 0 {
		t.Errorf("parents: %v", list)
	}
	for s, want := range map[*spans.Span][2]time.Duration{
		root: {0, 10 * time.Second}, rows: {0, 10 * time.Second}, scan: {10 * time.Millisecond, time.Second},
	} {
		if got := offsets(s); got != want {
			t.Errorf("%s: got %v, want %v", s.Name, got, want)
		}
	}
	for _, want := range []string{"scrim.ledger", "scrim.digest", "ann@%", "s.t"} {
		if !strings.Contains(root.String(), want) {
			t.Errorf("the span lacks %q: %v", want, root)
		}
	}
}

func TestTimesOfPublicRowsAreExact(t *testing.T) {
	e := statement()
	e.Public, e.Private = true, false
	list, _ := sent(t, nil, e)
	if got, want := offsets(named(t, list, "scan 1 of 1")), [2]time.Duration{20 * time.Millisecond, 700 * time.Millisecond}; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestTheClientsTraceAndItsSampling(t *testing.T) {
	e := statement()
	e.Parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	list, _ := sent(t, nil, e)
	if s := named(t, list, "SELECT"); hex.EncodeToString(s.TraceId) != "0af7651916cd43dd8448eb211c80319c" || hex.EncodeToString(s.ParentSpanId) != "b7ad6b7169203331" {
		t.Errorf("trace %x under %x", s.TraceId, s.ParentSpanId)
	}
	e.Parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
	if list, _ = sent(t, nil, e); len(list) != 0 {
		t.Errorf("%d spans of a trace that is not sampled", len(list))
	}
	if list, _ = sent(t, map[string]string{"OTEL_TRACES_SAMPLER": "always_off"}, statement()); len(list) != 0 {
		t.Errorf("%d spans under always_off", len(list))
	}
}

func TestReportsAndTextsAreNotTold(t *testing.T) {
	report, odd := statement(), statement()
	report.ID, odd.Statement = "", "O'Brien's secret"
	list, _ := sent(t, nil, report, odd)
	if len(list) != 3 || strings.Contains(named(t, list, "statement").String(), "Brien") {
		t.Errorf("got %v", list)
	}
}

func TestWhatTheEnvironmentAsksFor(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want bool
		err  string
	}{
		{nil, false, ""},
		{map[string]string{"OTEL_SERVICE_NAME": "x", "OTEL_TRACES_SAMPLER": "always_on"}, false, ""},
		{map[string]string{"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, false, ""},
		{map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_SDK_DISABLED": "true"}, false, ""},
		{map[string]string{"OTEL_TRACES_EXPORTER": "otlp"}, true, ""},
		{map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c:4318/v1/traces"}, true, ""},
		{map[string]string{"OTEL_TRACES_EXPORTER": "zipkin"}, false, "want otlp or none"},
		{map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, false, "want http/protobuf"},
	} {
		got, err := traces.Wanted(func(name string) string { return c.env[name] })
		if got != c.want || (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%v: got %v, %v", c.env, got, err)
		}
	}
}

func TestWithoutVariablesThereIsNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	e, err := traces.Open(t.Context(), func(string) string { return "" }, zerolog.Nop())
	if e != nil || err != nil || runtime.NumGoroutine() > before {
		t.Errorf("got %v, %v, %d goroutines after %d", e, err, runtime.NumGoroutine(), before)
	}
}

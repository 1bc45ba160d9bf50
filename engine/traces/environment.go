package traces

import (
	"cmp"
	"fmt"
	"strings"
)

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
	case exporter == "none", exporter == "" && endpoint(getenv) == "":
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

// endpoint is where traces go to, "" where that is not said.
func endpoint(getenv func(string) string) string {
	return cmp.Or(getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), getenv("OTEL_EXPORTER_OTLP_ENDPOINT"))
}

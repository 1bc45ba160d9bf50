package traces

import (
	"context"
	"fmt"
	"time"

	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"scrim/engine/version"
	"scrim/engine/watch"
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

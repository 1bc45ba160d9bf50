package admin

import (
	"context"
	"errors"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
)

// TestOneForecastAtATime: the next one waits for it, and no longer than its own statement runs.
func TestOneForecastAtATime(t *testing.T) {
	f := newFixture(t)
	forecast := f.admin.forecast().Function.(func(*sql.Context, string, string) (sql.RowIter, error))
	const declared = `{"epsilon": 1, "lo": 0, "hi": 120, "n_expected": 20000}`
	killed, kill := context.WithCancel(context.Background())
	kill()

	f.admin.forecasting <- struct{}{}
	if _, err := forecast(sql.NewContext(killed), "LDP_BIT", declared); !errors.Is(err, context.Canceled) {
		t.Errorf("beside another one: %v", err)
	}
	<-f.admin.forecasting
	for _, text := range []string{declared, `{"epsilon": 100, "lo": 0, "hi": 120, "n_expected": 20000}`, declared} {
		_, err := forecast(sql.NewContext(context.Background()), "LDP_BIT", text)
		if refused := text != declared; refused != (err != nil) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

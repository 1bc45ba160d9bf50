package admin

import (
	"fmt"
	"testing"

	"scrim/internal/refuse"
)

// TestVerifyLedger: a DBA and an auditor have the open ledger verified, and nobody else.
func TestVerifyLedger(t *testing.T) {
	f := newFixture(t)
	mixed(t, f.ledger)
	end := f.ledger.Position()
	for _, who := range []string{dba, auditor} {
		if got, want := show(f.must(who, "", "CALL dp_verify_ledger()")), fmt.Sprintf("%d|0|%d|%s\n", end.Record, end.Record, end.Hash); got != want {
			t.Errorf("%s: got %s, want %s", who, got, want)
		}
	}
	f.refused(ann, "", "CALL dp_verify_ledger()", refuse.NotDBA, "DBA or an auditor only")
}

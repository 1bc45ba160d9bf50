package engine

import (
	"strings"
	"testing"

	"scrim/engine/mysql/gate"
)

// TestLongStatements: who may be anybody cannot have the server hold a syntax tree of gigabytes.
func TestLongStatements(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE USER contributor IDENTIFIED BY 'pw'", "GRANT INSERT ON dp_in.* TO contributor", "CREATE USER bulk IDENTIFIED BY 'pw'", "GRANT importer TO bulk", "CREATE USER ann IDENTIFIED BY 'pw'")
	contributor, bulk, ann := i.client("contributor", "pw"), i.client("bulk", "pw"), i.client("ann", "pw")
	insert := func(rows int) string {
		return "INSERT INTO dp_in.commute VALUES (1,'')" + strings.Repeat(",(1,'')", rows)
	}
	// A row is six tokens.
	contributor.refused(1436, "HY000", insert(gate.MaxTokens/6+10))
	ann.refused(1064, "42000", "CALL dp_price('SELECT 1"+strings.Repeat(",1", gate.MaxTokens)+"')")
	if _, err := contributor.try("SELECT ?"+strings.Repeat(",1", gate.MaxTokens), 1); err == nil || !strings.Contains(err.Error(), "1436") {
		t.Errorf("prepared: %.200v", err)
	}
	contributor.refused(1146, "42S02", insert(gate.MaxTokens/6-10))
	contributor.refused(1146, "42S02", "INSERT INTO dp_in.commute VALUES (1,'"+strings.Repeat("x,", gate.MaxTokens)+"')")
	bulk.refused(1146, "42S02", insert(gate.MaxTokens/6+10))
}

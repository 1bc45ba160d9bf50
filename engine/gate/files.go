package gate

import (
	"context"
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/internal/refuse"
)

// SecureFilePriv is @@secure_file_priv, which is NULL: no statement reads or writes a file of the
// server.
func SecureFilePriv() sql.SystemVariable {
	const name = "secure_file_priv"
	return &sql.MysqlSystemVariable{Name: name, Scope: sql.GetMysqlScope(sql.SystemVariableScope_Global), Type: alwaysNull{types.NewSystemStringType(name)}}
}

// alwaysNull is the type of a variable that has no value.
type alwaysNull struct{ sql.SystemVariableType }

// Convert implements sql.Type.
func (alwaysNull) Convert(context.Context, any) (any, sql.ConvertInRange, error) {
	return nil, sql.InRange, nil
}

// NoFiles refuses to write a file of the server.
func NoFiles() error {
	return unsupported("SELECT … INTO OUTFILE and INTO DUMPFILE are not supported.", "Write the file on the client's side.")
}

// CheckLoad refuses what LOAD DATA may say and this server does not do.
func CheckLoad(s *sqlparser.Load) error {
	const remedy = "Write LOAD DATA LOCAL INFILE … INTO TABLE … with FIELDS, LINES, IGNORE n LINES and a list of columns."
	switch {
	case !bool(s.Local):
		return refuse.New(refuse.Unsupported, "LOAD DATA without LOCAL would read a file of the server.").With("%s", remedy)
	case len(s.SetExprs) > 0:
		return unsupported("LOAD DATA with SET is not supported.", "Load into a table of its own, and INSERT … SELECT from there.")
	case s.IgnoreOrReplace != "":
		return unsupported("LOAD DATA with IGNORE or REPLACE is not supported: all rows are loaded or none.", remedy)
	case len(s.Partition) > 0:
		return unsupported("Tables have no partitions.", remedy)
	}
	switch s.Charset {
	case "", "utf8mb4", "utf8", "utf8mb3", "ascii":
		return nil
	}
	return unsupported(fmt.Sprintf("LOAD DATA reads utf8mb4, not %q.", s.Charset), "Convert the file to UTF-8.")
}

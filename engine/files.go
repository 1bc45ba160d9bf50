package engine

import (
	"context"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// closedFiles is @@secure_file_priv, which is NULL: no statement reads or writes a file of the server.
func closedFiles() sql.SystemVariable {
	const name = "secure_file_priv"
	return &sql.MysqlSystemVariable{Name: name, Scope: sql.GetMysqlScope(sql.SystemVariableScope_Global), Type: alwaysNull{types.NewSystemStringType(name)}}
}

// alwaysNull is the type of a variable that has no value.
type alwaysNull struct{ sql.SystemVariableType }

// Convert implements sql.Type.
func (alwaysNull) Convert(context.Context, any) (any, sql.ConvertInRange, error) {
	return nil, sql.InRange, nil
}

package result

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"scrim/engine/browse"
)

// notFixedDecimals is what MySQL sends as the decimals of DOUBLE and FLOAT columns. Clients that
// get 0 there round every value to an integer.
const notFixedDecimals = 31

// Fields describes the columns of a result as MySQL does, for text and prepared statements,
// on public tables and private answers alike.
func Fields(ctx *sql.Context, schema sql.Schema) []*querypb.Field {
	results := ctx.GetCharacterSetResults()
	fields := make([]*querypb.Field, len(schema))
	for i, c := range schema {
		f := &querypb.Field{
			Name:         c.Name,
			OrgName:      c.Name,
			Table:        c.Source,
			OrgTable:     c.Source,
			Database:     databaseOf(c),
			Type:         c.Type.Type(),
			Charset:      charset(c.Type, results),
			ColumnLength: c.Type.MaxTextResponseByteLength(ctx),
			Flags:        uint32(columnFlags(c)),
		}
		switch {
		case types.IsDecimal(c.Type):
			f.Decimals = uint32(c.Type.(sql.DecimalType).Scale())
		case types.IsFloat(c.Type):
			f.Decimals = notFixedDecimals
		case types.IsDatetimeType(c.Type):
			f.Decimals = uint32(c.Type.(sql.DatetimeType).Precision())
		}
		fields[i] = f
	}
	return fields
}

// databaseOf is the database of a column, as clients know it.
func databaseOf(c *sql.Column) string {
	if c.DatabaseSource == browse.ShowDatabase {
		return sql.InformationSchemaDatabaseName
	}
	return strings.TrimSpace(c.DatabaseSource)
}

// charset is the character set of a column: binary, the one that the client wants results in, or
// the column's own.
func charset(t sql.Type, results sql.CharacterSetID) uint32 {
	switch {
	case types.IsBinaryType(t):
		return uint32(sql.Collation_binary)
	case results != sql.CharacterSet_Unspecified:
		return uint32(results)
	}
	if c, ok := t.(sql.TypeWithCollation); ok {
		return uint32(c.Collation().CharacterSet())
	}
	return uint32(sql.Collation_Default.CharacterSet())
}

func columnFlags(c *sql.Column) querypb.MySqlFlag {
	var f querypb.MySqlFlag
	if !c.Nullable {
		f |= querypb.MySqlFlag_NOT_NULL_FLAG
	}
	if c.AutoIncrement {
		f |= querypb.MySqlFlag_AUTO_INCREMENT_FLAG
	}
	if c.PrimaryKey {
		f |= querypb.MySqlFlag_PRI_KEY_FLAG
	}
	if types.IsUnsigned(c.Type) {
		f |= querypb.MySqlFlag_UNSIGNED_FLAG
	}
	return f
}

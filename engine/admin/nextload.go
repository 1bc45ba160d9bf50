package admin

import (
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/store"
	"scrim/internal/refuse"
)

// nextLoadDoc documents the procedure that scrim import announces its files by.
var nextLoadDoc = Procedure{"dp_next_load", "dp_next_load(table, json)",
	"Says what the session's next LOAD DATA LOCAL INFILE is, which must be into this table: which files its rows are of, by name and SHA-256, and with \"replace\" that they take the place of the table's rows, all of it or nothing. A file that is in the table already is refused, unless \"again\" is true. `scrim import --server` uses it.",
	`CALL dp_next_load('shop.orders', '{"files":[{"name":"orders.csv","sha256":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}],"replace":true}')`}

var hexSum = regexp.MustCompile(`^[0-9a-f]{64}$`)

// nextLoad announces a load.
func (a *Admin) nextLoad(ctx *sql.Context, args []string) error {
	name, err := tableName(ctx, args[0])
	if err != nil {
		return err
	}
	var said struct {
		Files   []struct{ Name, SHA256 string }
		Replace bool
		Again   bool
	}
	d := json.NewDecoder(strings.NewReader(args[1]))
	d.DisallowUnknownFields()
	if err := d.Decode(&said); err != nil {
		return badLoad()
	}
	schema, table, _ := strings.Cut(name, ".")
	l := &store.Load{Table: store.TableRef{Schema: schema, Name: table}, Replace: said.Replace, Again: said.Again}
	for _, f := range said.Files {
		if !hexSum.MatchString(f.SHA256) || f.Name == "" || len(f.Name) > 255 {
			return badLoad()
		}
		l.Files = append(l.Files, store.ImportedFile{SHA256: f.SHA256, Name: f.Name, At: time.Now().UTC()})
	}
	return a.o.NextLoad(ctx, l)
}

func badLoad() error {
	return refuse.New(refuse.Policy, "dp_next_load wants a JSON object of files, each with a name and the sha256 of its bytes in hexadecimal, replace and again.").
		With("%s", nextLoadDoc.Example)
}

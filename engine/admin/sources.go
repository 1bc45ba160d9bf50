package admin

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/store"
	"scrim/engine/store/lake"
	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// Sources is what the package needs of a store that reads what others keep.
type Sources interface {
	// AttachFrom makes a table of a table of another server, which the operator has declared.
	AttachFrom(ctx context.Context, table store.TableRef, kind, server, database, name string) (*store.Attached, error)
	// Attach makes a table of files.
	Attach(ctx context.Context, table store.TableRef, from lake.From) (*store.Attached, error)
	// Free refuses a name that cannot be attached, of files or of another server's table.
	Free(ctx context.Context, table store.TableRef, remote bool) error
	// Detach removes such a table, and keeps which files it was.
	Detach(ctx context.Context, table store.TableRef) error
	// Attachments lists the tables that are or were attached.
	Attachments() map[store.TableRef]lake.Attachment
	// State looks at an attached table's files, or at its server.
	State(ctx context.Context, table store.TableRef) (store.SourceState, error)
}

// attach is dp_attach. hasView may be nil.
func (a *Admin) attach(ctx *sql.Context, args []string) ([]sql.Row, error) {
	ref, err := tableRef(ctx, args[0])
	if err != nil {
		return nil, err
	}
	described, err := describedSource(args[1], args[2])
	if err != nil {
		return nil, err
	}
	if a.o.HasView != nil {
		if there, err := a.o.HasView(ctx, ref.Schema, ref.Name); err != nil || there {
			return nil, errors.Join(err, refuse.New(refuse.Policy, "There is a view %s already.", ref).With("Choose another name."))
		}
	}
	if err := a.o.Sources.Free(ctx, ref, !described.ofFiles()); err != nil {
		return nil, unfit(err)
	}
	// A public table that had the name before says nothing of these rows.
	if err := a.o.Catalog.Created(ref.String()); err != nil {
		return nil, err
	}
	made, err := described.attach(ctx, a.o.Sources, ref)
	if err != nil {
		return nil, unfit(err)
	}
	rows := lists.Map(made.Columns, func(c store.Column) sql.Row { return sql.Row{c.Name, c.Type, nil} })
	for _, c := range made.Left {
		rows = append(rows, sql.Row{c.Name, c.Type, "left out: no column here has this type"})
	}
	return rows, nil
}

// described is what an attachment says of its source.
type described struct {
	kind string
	// of files
	Path string `json:"path"`
	Hive bool   `json:"hive"`
	// of a lake whose catalogue is a file
	Catalog string `json:"catalog"`
	// of another server, or of a lake whose catalogue is there
	Server   string `json:"server"`
	Database string `json:"database"`
	Table    string `json:"table"`
}

// remoteKinds are the kinds of servers whose tables can be attached.
var remoteKinds = []string{"mysql", "clickhouse"}

// describedSource reads the kind and the description of a source.
func describedSource(kind, text string) (*described, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	out := &described{}
	wrong := d.Decode(out) != nil || d.More()
	out.kind = kind
	switch {
	case kind == lake.Parquet:
		if wrong || out.Catalog+out.Server+out.Database+out.Table != "" {
			return nil, refuse.New(refuse.Policy, "A source of files is described by a JSON object with path and perhaps hive.").
				With(`For example '{"path": "/srv/lake/orders/**/*.parquet", "hive": true}'.`)
		}
	case kind == lake.DuckLake:
		file, server := out.Catalog != "", out.Server != "" && out.Database != ""
		if wrong || out.Path == "" || out.Hive || out.Table == "" || file == server || file && out.Server+out.Database != "" {
			return nil, refuse.New(refuse.Policy, "A table of a lake is described by a JSON object with path, the lake's data path, table, and catalog, a file, or server and database, where the catalogue is.").
				With(`For example '{"path": "/srv/lake/shop", "catalog": "/srv/lake/shop.ducklake", "table": "main.orders"}'.`)
		}
		if !strings.Contains(out.Table, ".") {
			out.Table = "main." + out.Table
		}
	case out.ofFiles():
		if wrong || out.Path == "" || out.Hive || out.Catalog+out.Server+out.Database+out.Table != "" {
			return nil, refuse.New(refuse.Policy, "A table that lists its files is described by a JSON object with path, its directory.").
				With(`For example '{"path": "/srv/lake/shop/orders"}'.`)
		}
	case slices.Contains(remoteKinds, kind):
		if wrong || out.Path+out.Catalog != "" || out.Hive || out.Server == "" || out.Database == "" || out.Table == "" {
			return nil, refuse.New(refuse.Policy, "A table of another server is described by a JSON object with server, database and table.").
				With(`For example '{"server": "shop", "database": "shop", "table": "orders"}': the server is one that scrim serve --source declares.`)
		}
	default:
		return nil, refuse.New(refuse.Policy, "There is no kind of source %q.", cut(kind)).With("The kinds are 'parquet', 'iceberg', 'ducklake', 'mysql' and 'clickhouse'.")
	}
	return out, nil
}

// ofFiles reports whether the source is files.
func (d *described) ofFiles() bool { return slices.Contains(lake.Files, d.kind) }

// attach attaches a table.
func (d *described) attach(ctx context.Context, to Sources, ref store.TableRef) (*store.Attached, error) {
	if d.ofFiles() {
		from := lake.From{Kind: d.kind, Path: d.Path, Hive: d.Hive}
		if d.kind == lake.DuckLake {
			from.In = &lake.Catalog{File: d.Catalog, Server: d.Server, Database: d.Database, Table: d.Table}
		}
		return to.Attach(ctx, ref, from)
	}
	return to.AttachFrom(ctx, ref, d.kind, d.Server, d.Database, d.Table)
}

// detach is dp_detach.
func (a *Admin) detach(ctx *sql.Context, args []string) error {
	ref, err := tableRef(ctx, args[0])
	if err != nil {
		return err
	}
	if err := a.o.Catalog.Leaving(ref.String(), func() error { return a.o.Sources.Detach(ctx, ref) }); err != nil {
		return unfit(err)
	}
	return a.o.Catalog.Dropped(ref.String())
}

// unfit words what the store says against files or a name.
func unfit(err error) error {
	var u *store.Unfit
	if errors.As(err, &u) {
		return refuse.New(refuse.Policy, "%s", u.Cause).With("%s", u.Remedy)
	}
	return err
}

// sourceRows lists the tables that are or were attached, and of the attached their files.
func sourceRows(ctx *sql.Context, sources Sources) ([]sql.Row, error) {
	all := sources.Attachments()
	refs := slices.SortedFunc(maps.Keys(all), func(x, y store.TableRef) int { return strings.Compare(x.String(), y.String()) })
	var rows []sql.Row
	for _, ref := range refs {
		s := all[ref]
		row := sql.Row{ref.String(), s.Kind, s.Path, nil, nil, s.Attached, nil, "detached"}
		if s.Live() {
			row[7] = "attached"
			now, err := sources.State(ctx, ref)
			var failed *store.Error
			switch {
			case errors.As(err, &failed):
				row[7] = failed.Error() + ": " + failed.Detail
			case err != nil:
				return nil, err
			case now.Files > 0:
				row[3], row[4] = int64(now.Files), now.Bytes
			}
		} else {
			row[6] = s.Detached.UTC().Truncate(time.Second)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// nextLoadDoc documents the procedure that scrim import announces its files by.
var nextLoadDoc = Procedure{"dp_next_load", "dp_next_load(table, json)",
	"Says what the session's next LOAD DATA LOCAL INFILE is, which must be into this table: which files its rows are of, by name and SHA-256, and with \"replace\" that they take the place of the table's rows, all of it or nothing. A file that is in the table already is refused, unless \"again\" is true. `scrim import --server` uses it.",
	`CALL dp_next_load('shop.orders', '{"files":[{"name":"orders.csv","sha256":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}],"replace":true}')`}

var hexSum = regexp.MustCompile(`^[0-9a-f]{64}$`)

// nextLoad announces a load.
func (a *Admin) nextLoad(ctx *sql.Context, args []string) error {
	table, err := tableRef(ctx, args[0])
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
	l := &store.Load{Table: table, Replace: said.Replace, Again: said.Again}
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

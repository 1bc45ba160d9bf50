package shuffler

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
	"github.com/dolthub/vitess/go/vt/sqlparser"
	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"scrim/internal/durable"
	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// table is what can be read.
type table struct {
	fields []*querypb.Field
	rows   func() ([][]sqltypes.Value, error)
}

const (
	charsetBinary = 63
	charsetUTF8   = 255
)

func textField(name string) *querypb.Field {
	return &querypb.Field{Name: name, OrgName: name, Type: querypb.Type_VARCHAR, Charset: charsetUTF8, ColumnLength: 1024}
}

func numberField(name string) *querypb.Field {
	return &querypb.Field{Name: name, OrgName: name, Type: querypb.Type_INT64, Charset: charsetBinary, ColumnLength: 20}
}

func textValue(s string) sqltypes.Value                         { return sqltypes.MakeTrusted(sqltypes.VarChar, []byte(s)) }
func count[N int | int64 | uint32 | uint64](n N) sqltypes.Value { return sqltypes.NewInt64(int64(n)) }

// table finds a table: pins for everybody, batches for the operator.
func (h *handler) table(name string, operator bool) (*table, error) {
	switch name = strings.ToLower(name); {
	case name == "pins":
		return h.pinsTable(), nil
	case name == "batches" && operator:
		return h.batchesTable(), nil
	case name == "inbox":
		return nil, refuse.New(refuse.Unsupported, "The inbox shows nothing.").With("Send the stored bundle again unchanged to be sure that it is there.")
	}
	return nil, mysql.NewSQLError(mysql.ERNoSuchTable, mysql.SSUnknownTable, "Table '%.64s' doesn't exist", name)
}

// pinsTable lists what bundles are taken for: all of it is public.
func (h *handler) pinsTable() *table {
	fingerprint := &querypb.Field{Name: "fingerprint", OrgName: "fingerprint", Type: querypb.Type_BINARY, Charset: charsetBinary, ColumnLength: 32, Flags: uint32(querypb.MySqlFlag_BINARY_FLAG)}
	return &table{
		fields: []*querypb.Field{fingerprint, textField("collection"), numberField("round"), textField("stratum"), numberField("n_min"), numberField("n_max"),
			numberField("messages_min"), numberField("messages_max"), numberField("bundle_bytes"), textField("shuffler")},
		rows: func() (out [][]sqltypes.Value, err error) {
			for _, p := range h.shuffler.pinned() {
				out = append(out, []sqltypes.Value{sqltypes.MakeTrusted(sqltypes.Binary, bytes.Clone(p.shape.Fingerprint[:])), textValue(p.of.name),
					count(p.params.Round), textValue(p.params.Stratum), count(p.params.Batch.Min), count(p.params.Batch.Max),
					count(p.shape.Least), count(p.shape.Most), count(p.shape.Size()), textValue(h.shuffler.id)})
			}
			return out, nil
		},
	}
}

var batchFields = []*querypb.Field{
	textField("collection"), numberField("round"), textField("stratum"), numberField("cell"), numberField("batch"), textField("state"), numberField("reports"),
	numberField("n_min"), numberField("n_max"), numberField("tokens"), numberField("parts_sent"), numberField("parts"), numberField("ended"), textField("note"), textField("fingerprint"),
}

func batchRow(s Status) []sqltypes.Value {
	ended := 0
	if s.Ended {
		ended = 1
	}
	return []sqltypes.Value{textValue(s.Collection), count(s.Round), textValue(s.Stratum), count(s.Cell), count(s.Batch), textValue(string(s.State)), count(s.Reports),
		count(s.Min), count(s.Max), count(s.Tokens), count(s.Sent), count(s.Parts), count(ended), textValue(s.Note), textValue(s.Fingerprint)}
}

func batchRows(list []Status) (out [][]sqltypes.Value) {
	return lists.Map(list, batchRow)
}

// batchesTable is the state of all batches.
func (h *handler) batchesTable() *table {
	return &table{fields: batchFields, rows: func() ([][]sqltypes.Value, error) {
		list, err := h.shuffler.Status()
		return batchRows(list), err
	}}
}

// read understands SELECT columns FROM table [WHERE column = value] [LIMIT …, which is not looked
// at].
func (h *handler) read(s *sqlparser.Select, operator bool) (*answer, error) {
	name, ok := tableName(s.From)
	if !ok || s.With != nil || s.Into != nil || len(s.GroupBy) > 0 || s.Having != nil {
		return nil, unknown()
	}
	t, err := h.table(name, operator)
	if err != nil {
		return nil, err
	}
	places, fields, err := t.columns(s.SelectExprs)
	if err != nil {
		return nil, err
	}
	at, want, err := t.condition(s.Where)
	if err != nil {
		return nil, err
	}
	return &answer{fields: fields, run: func(_ context.Context, v bindings) (*sqltypes.Result, error) {
		rows, err := t.rows()
		out := &sqltypes.Result{}
		for _, row := range rows {
			if want != nil && !bytes.Equal(row[at].Raw(), v.value(want)) {
				continue
			}
			out.Rows = append(out.Rows, lists.Map(places, func(i int) sqltypes.Value { return row[i] }))
		}
		return out, err
	}}, nil
}

// columns finds the columns that are asked for.
func (t *table) columns(list sqlparser.SelectExprs) (places []int, fields []*querypb.Field, err error) {
	for _, e := range list {
		if _, star := e.(*sqlparser.StarExpr); star {
			for i, f := range t.fields {
				places, fields = append(places, i), append(fields, f)
			}
			continue
		}
		a, ok := e.(*sqlparser.AliasedExpr)
		if !ok {
			return nil, nil, unknown()
		}
		i, err := t.column(a.Expr)
		if err != nil {
			return nil, nil, err
		}
		places, fields = append(places, i), append(fields, t.fields[i])
	}
	return places, fields, nil
}

func (t *table) column(e sqlparser.Expr) (int, error) {
	c, ok := e.(*sqlparser.ColName)
	if !ok {
		return 0, unknown()
	}
	if i := slices.IndexFunc(t.fields, func(f *querypb.Field) bool { return c.Name.EqualString(f.Name) }); i >= 0 {
		return i, nil
	}
	return 0, mysql.NewSQLError(mysql.ERBadFieldError, mysql.SSBadFieldError, "Unknown column '%.64s' in 'field list'", c.Name.String())
}

// condition understands WHERE column = value; want is nil without.
func (t *table) condition(w *sqlparser.Where) (at int, want sqlparser.Expr, err error) {
	if w == nil {
		return 0, nil, nil
	}
	c, ok := w.Expr.(*sqlparser.ComparisonExpr)
	if !ok || c.Operator != sqlparser.EqualStr || !constant(c.Right) {
		return 0, nil, unknown()
	}
	at, err = t.column(c.Left)
	return at, c.Right, err
}

// show answers what clients ask of their own accord.
func (h *handler) show(s *sqlparser.Show, operator bool) (*answer, error) {
	var fields []*querypb.Field
	var rows [][]sqltypes.Value
	switch strings.ToLower(s.Type) {
	case "warnings", "errors":
		fields = []*querypb.Field{textField("Level"), numberField("Code"), textField("Message")}
	case "databases", "schemas":
		fields, rows = []*querypb.Field{textField("Database")}, [][]sqltypes.Value{{textValue("shuffler")}}
	case "tables":
		fields, rows = []*querypb.Field{textField("Tables_in_shuffler")}, [][]sqltypes.Value{{textValue("inbox")}, {textValue("pins")}}
		if operator {
			rows = append([][]sqltypes.Value{{textValue("batches")}}, rows...)
		}
	case "variables", "session variables", "global variables":
		fields = []*querypb.Field{textField("Variable_name"), textField("Value")}
		for name, v := range variables {
			rows = append(rows, []sqltypes.Value{textValue(name), v})
		}
		sort.Slice(rows, func(i, j int) bool { return rows[i][0].ToString() < rows[j][0].ToString() })
	case "collation", "engines", "status", "character set", "charset", "session status", "global status", "plugins":
		fields = []*querypb.Field{textField("Variable_name"), textField("Value")}
	default:
		return nil, unknown()
	}
	return &answer{fields: fields, run: func(context.Context, bindings) (*sqltypes.Result, error) {
		return &sqltypes.Result{Rows: rows}, nil
	}}, nil
}

// variables are the system variables that connectors ask for.
var variables = func() map[string]sqltypes.Value {
	out := map[string]sqltypes.Value{"init_connect": textValue(""), "sql_mode": textValue("STRICT_TRANS_TABLES")}
	for name, n := range map[string]int64{
		"auto_increment_increment": 1, "autocommit": 1, "interactive_timeout": int64(idle.Seconds()), "wait_timeout": int64(idle.Seconds()),
		"lower_case_table_names": 0, "max_allowed_packet": maxPacket, "net_buffer_length": 16384, "net_read_timeout": 30, "net_write_timeout": 60,
		"performance_schema": 0, "query_cache_size": 0, "sql_auto_is_null": 0, "sql_select_limit": -1, "transaction_read_only": 0, "tx_read_only": 0,
	} {
		out[name] = sqltypes.NewInt64(n)
	}
	for name, text := range map[string]string{
		"character_set_client": "utf8mb4", "character_set_connection": "utf8mb4", "character_set_database": "utf8mb4", "character_set_results": "utf8mb4",
		"character_set_server": "utf8mb4", "collation_connection": "utf8mb4_0900_ai_ci", "collation_database": "utf8mb4_0900_ai_ci",
		"collation_server": "utf8mb4_0900_ai_ci", "license": "none", "query_cache_type": "OFF", "system_time_zone": "UTC", "time_zone": "SYSTEM",
		"transaction_isolation": "SERIALIZABLE", "tx_isolation": "SERIALIZABLE", "version": version, "version_comment": "Scrim shuffler", "hostname": "shuffler",
		"protocol_version": "10",
	} {
		out[name] = textValue(text)
	}
	return out
}()

// constants understands SELECT without a table: variables, numbers, texts and a few functions.
func constants(c *mysql.Conn, s *sqlparser.Select) (*answer, error) {
	a := &answer{}
	var row []sqltypes.Value
	for _, e := range s.SelectExprs {
		x, ok := e.(*sqlparser.AliasedExpr)
		if !ok {
			return nil, unknown()
		}
		v, name, err := constantOf(c, x.Expr)
		if err != nil {
			return nil, err
		}
		if x.InputExpression != "" {
			name = x.InputExpression
		}
		if !x.As.IsEmpty() {
			name = x.As.String()
		}
		f := textField(name)
		if v.IsIntegral() {
			f = numberField(name)
		}
		a.fields, row = append(a.fields, f), append(row, v)
	}
	a.run = func(context.Context, bindings) (*sqltypes.Result, error) {
		return &sqltypes.Result{Rows: [][]sqltypes.Value{row}}, nil
	}
	return a, nil
}

func constantOf(c *mysql.Conn, e sqlparser.Expr) (v sqltypes.Value, name string, err error) {
	name = sqlparser.String(e)
	switch e := e.(type) {
	case *sqlparser.NullVal:
		return sqltypes.NULL, "NULL", nil
	case *sqlparser.SQLVal:
		switch e.Type {
		case sqlparser.IntVal:
			n, err := strconv.ParseInt(string(e.Val), 10, 64)
			return sqltypes.NewInt64(n), name, err
		case sqlparser.StrVal:
			return textValue(string(e.Val)), name, nil
		}
	case *sqlparser.ColName:
		variable := strings.ToLower(e.Name.String())
		if !strings.HasPrefix(variable, "@@") {
			return v, name, mysql.NewSQLError(mysql.ERBadFieldError, mysql.SSBadFieldError, "Unknown column '%.64s' in 'field list'", name)
		}
		short := variable[strings.LastIndexAny(variable, ".@")+1:]
		if v, ok := variables[short]; ok {
			return v, e.Name.String(), nil
		}
		return v, name, mysql.NewSQLError(mysql.ERUnknownSystemVariable, mysql.SSUnknownSQLState, "Unknown system variable '%.64s'", short)
	case *sqlparser.FuncExpr:
		switch e.Name.Lowered() {
		case "version":
			return textValue(version), name, nil
		case "database", "schema":
			return sqltypes.NULL, name, nil
		case "connection_id":
			return sqltypes.NewInt64(int64(c.ConnectionID)), name, nil
		case "user", "current_user", "session_user", "system_user":
			return textValue(c.User + "@%"), name, nil
		}
	}
	return v, name, unknown()
}

// The buckets of shuffler.db. Numbers in keys and values are big-endian.
//
//	meta         "format"                  "scrim shuffler 1"
//	meta         "id"                      16 random bytes, by which contributors tell shufflers apart
//	collections  uuid                      JSON of collectionRecord
//	pins         place [11] of cell 0      canonical parameters
//	tokens       SHA-256(token) [32]       place [11], batch u32: the one that it reported to, 0 while it has not
//	issued       place [11]                tokens issued u64
//	batches      place [11], number u32    JSON of Record, of batches that are open no more
//	ended        place [11]                "": no bundles are taken any more
var (
	bucketMeta        = []byte("meta")
	bucketCollections = []byte("collections")
	bucketPins        = []byte("pins")
	bucketTokens      = []byte("tokens")
	bucketIssued      = []byte("issued")
	bucketBatches     = []byte("batches")
	bucketEnded       = []byte("ended")

	buckets = [][]byte{bucketMeta, bucketCollections, bucketPins, bucketTokens, bucketIssued, bucketBatches, bucketEnded}
)

const (
	format      = "scrim shuffler 1"
	fileStore   = "shuffler.db"
	batchesDir  = "batches"
	suffixStore = ".reports"
	suffixBag   = ".bag"
)

// ErrInUse is returned for a data directory that another process works with.
var ErrInUse = errors.New("shuffler: the data directory is in use by another process")

// openStore opens or makes shuffler.db.
func openStore(dir string) (*bolt.DB, error) {
	if err := os.MkdirAll(filepath.Join(dir, batchesDir), 0o700); err != nil {
		return nil, fmt.Errorf("shuffler: data directory: %w", err)
	}
	db, err := openBolt(filepath.Join(dir, fileStore))
	if err != nil {
		return nil, err
	}
	if err := db.Update(prepare); err != nil {
		db.Close()
		return nil, err
	}
	return db, durable.SyncDir(dir)
}

// openBolt opens a bbolt file, which is locked until it is closed.
func openBolt(path string) (*bolt.DB, error) {
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: time.Second, FreelistType: bolt.FreelistMapType})
	if errors.Is(err, berrors.ErrTimeout) {
		return nil, ErrInUse
	}
	if err != nil {
		return nil, fmt.Errorf("shuffler: %s: %w", path, err)
	}
	return db, nil
}

func prepare(tx *bolt.Tx) error {
	if meta := tx.Bucket(bucketMeta); meta != nil {
		if have := string(meta.Get([]byte("format"))); have != format {
			return fmt.Errorf("shuffler: the data directory has format %.40q, and this program knows %q", have, format)
		}
		return nil
	}
	for _, b := range buckets {
		if _, err := tx.CreateBucket(b); err != nil {
			return err
		}
	}
	id := make([]byte, 16)
	rand.Read(id) // never fails: it ends the program instead
	meta := tx.Bucket(bucketMeta)
	return errors.Join(meta.Put([]byte("format"), []byte(format)), meta.Put([]byte("id"), id))
}

// identity returns what a shuffler's contributors know it by, in hex. It is that of the data
// directory.
func identity(db *bolt.DB) (id string) {
	_ = db.View(func(tx *bolt.Tx) error { id = hex.EncodeToString(tx.Bucket(bucketMeta).Get([]byte("id"))); return nil })
	return id
}

// State is how far a batch is.
type State string

// The states of a batch.
const (
	Open         State = "OPEN"         // takes bundles
	Closed       State = "CLOSED"       // permuted, on disk
	Releasing    State = "RELEASING"    // parts may have been sent
	Acknowledged State = "ACKNOWLEDGED" // the server has it; bundles and bag are erased
	Refused      State = "REFUSED"      // the server will never take it; erased
	Destroyed    State = "DESTROYED"    // had too few reports; erased
)

// over tells whether nothing is left to do, or to keep.
func (s State) over() bool { return s == Acknowledged || s == Refused || s == Destroyed }

// Record is what is kept of a batch.
type Record struct {
	State    State  `json:"state"`
	Reports  uint64 `json:"reports"`
	Messages uint64 `json:"messages,omitempty"`
	Part     int    `json:"part,omitempty"` // messages of each part but the last
	Digest   []byte `json:"sha256,omitempty"`
	Note     string `json:"note,omitempty"` // of the server's refusal, or what was missing
}

// parts is into how many the bag is cut.
func (r Record) parts() int { return (int(r.Messages) + r.Part - 1) / r.Part }

func putJSON(b *bolt.Bucket, key []byte, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return b.Put(key, text)
}

func uint64At(b []byte) uint64 {
	if len(b) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(b)
}

package tables

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/engine/store"
	"scrim/internal/collation"
	"scrim/internal/lists"
	"scrim/internal/sqltext"
)

// alteration is one ALTER TABLE clause: what is asked first, how the definition changes, and
// whether the store can do it in place.
type alteration struct {
	change Change
	// its success tells something of the rows (see the package documentation)
	reads  bool
	meta   bool                    // the store's own definition is not touched
	apply  func(*definition) error // changes the definition
	native func(*definition) string
	done   func() // once it is committed; it may be nil
	// after looks at the rows of the table as it has become; it may be nil
	after func(*definition) func(store.Session) error
}

// altered is what the clauses of one ALTER TABLE make of a table. Each changes the definition, and
// when all have been accepted the store is changed in one transaction: wholly, or not at all.
type altered struct {
	db          *Database
	before, def *definition // nil before the first clause
	native      []string    // the store's own ALTER statements, used where no rebuild is needed
	rebuild     bool
	checks      int // that were added
	parts       *[][]sqlparser.Expr
	after       []func(store.Session) error
	rename      func(store.Session) error
	done        []func() // what is not of the store, once it is committed
}

type alteredKey struct{}

// clause adds a clause to those of its statement. One that is a statement by itself is run.
func (p *Provider) clause(ctx *sql.Context, add func(*altered) error) error {
	w, several := ctx.Value(alteredKey{}).(*altered)
	if !several {
		w = &altered{}
	}
	if err := add(w); err != nil || several {
		return err
	}
	return w.run(ctx, p)
}

// alter adds one clause. Native SQL is used where there is one and the table has no keys, on which
// the store cannot build; otherwise the table is rebuilt.
func (d *Database) alter(ctx *sql.Context, name string, a alteration) error {
	ref := d.ref(name)
	if err := d.p.checkAlter(ctx, ref, a.change); err != nil {
		return err
	}
	if a.reads {
		if err := d.p.access.CheckRead(ctx, ref); err != nil {
			return err
		}
	}
	return d.p.clause(ctx, func(w *altered) (err error) {
		if w.def, err = d.current(ctx, name); err != nil {
			return err
		}
		if w.before == nil {
			stored, err := d.stored(ctx, name)
			if err != nil {
				return err
			}
			w.db, w.before = d, definitionOf(stored)
		}
		if a.done != nil {
			w.done = append(w.done, a.done)
		}
		if err := a.apply(w.def); err != nil {
			return err
		}
		if a.after != nil {
			w.after = append(w.after, a.after(w.def))
		}
		if a.meta {
			return nil
		}
		if w.rebuild = w.rebuild || a.native == nil || w.def.enforced(); !w.rebuild {
			w.native = append(w.native, a.native(w.def))
		}
		return nil
	})
}

// current is the definition of a table, as the clauses of the statement so far have made it.
func (d *Database) current(ctx *sql.Context, name string) (*definition, error) {
	if w, ok := ctx.Value(alteredKey{}).(*altered); ok && w.def != nil {
		return w.def, nil
	}
	t, err := d.stored(ctx, name)
	if err == nil && t.View {
		err = unsupported("Alter the table that it is a view of.", "The view %s cannot be altered.", t.Ref)
	}
	return definitionOf(t), err
}

// run changes the store.
func (w *altered) run(ctx *sql.Context, p *Provider) error {
	if w.def != nil {
		if err := w.def.checkNumbered(); err != nil {
			return err
		}
		if err := w.db.settle(ctx, w.before, w.def); err != nil {
			return err
		}
	}
	err := p.atomically(ctx, func(s store.Session) error {
		if err := w.def.change(ctx, p, s, w); err != nil {
			return err
		}
		if w.def != nil && len(w.def.renames) > 0 {
			if err := w.db.follow(ctx, s, w.def.ref, w.def.ref, w.def.renamedIn); err != nil {
				return err
			}
		}
		if err := lists.Each(w.after, func(rows func(store.Session) error) error { return rows(s) }); err != nil {
			return err
		}
		if w.rename == nil {
			return nil
		}
		return w.rename(s)
	})
	for _, f := range w.done {
		if err == nil {
			f()
		}
	}
	return err
}

func (d *definition) change(ctx *sql.Context, p *Provider, s store.Session, w *altered) error {
	if d == nil {
		return nil
	}
	if err := d.checkLimits(ctx, s); err != nil {
		return err
	}
	if w.rebuild {
		return d.rebuild(ctx, p, s)
	}
	for _, statement := range w.native {
		if _, err := s.Write(ctx, []store.TableRef{d.ref}, statement); err != nil {
			return classify(err, &d.ref)
		}
	}
	return d.writeMeta(ctx, s)
}

// setComment runs ALTER TABLE ... COMMENT.
func (d *Database) setComment(ctx *sql.Context, table, comment string) error {
	return d.alter(ctx, table, alteration{meta: true, apply: func(t *definition) error {
		t.comment = comment
		return nil
	}})
}

// alterPrimaryKey runs ADD PRIMARY KEY and DROP PRIMARY KEY.
func (d *Database) alterPrimaryKey(ctx *sql.Context, table string, n *plan.AlterPK) error {
	if n.Action == plan.PrimaryKeyAction_Drop {
		return d.dropKey(ctx, table, primaryName)
	}
	k := keyDef{name: primaryName, primary: true}
	for _, c := range n.Columns {
		k.columns, k.lengths = append(k.columns, c.Name), append(k.lengths, int(c.Length))
	}
	return d.addKey(ctx, table, k)
}

// textLimit is what an alteration lets the texts of a column be: of a length, or members of an ENUM
// or, where several may be named, of a SET.
type textLimit struct {
	column  string // as it is named before
	length  int64
	members []string
	several bool
}

// membersOf are the members of an ENUM or SET, nil of other types.
func membersOf(t sql.Type) []string {
	switch t := t.(type) {
	case sql.EnumType:
		return t.Values()
	case sql.SetType:
		return t.Values()
	}
	return nil
}

// exceeds is the condition in the store's SQL by which a text is beyond the limit. The empty text
// is of every ENUM and SET.
func (l textLimit) exceeds() string {
	name := sqltext.StoreName(l.column)
	if l.members == nil {
		return fmt.Sprintf("length(%s) > %d", name, l.length)
	}
	list := "[" + strings.Join(lists.Map(l.members, sqltext.StoreText), ", ") + "]"
	if l.several {
		return name + " <> '' AND NOT list_has_all(" + list + ", string_split(" + name + ", ','))"
	}
	return name + " <> '' AND NOT list_contains(" + list + ", " + name + ")"
}

// longestText is the length from which on texts are not measured: it is that of TEXT.
const longestText = 65535 / 4

// limitOf is the greatest length that a type gives a text; ok is false for other types.
func limitOf(t sql.Type) (n int64, ok bool) {
	text, isText := t.(sql.StringType)
	if !isText || !types.IsTextOnly(t) {
		return 0, false
	}
	n = text.MaxCharacterLength()
	return n, n < longestText
}

// checkLimits refuses an alteration where a stored text is none that it will be allowed to be.
func (d *definition) checkLimits(ctx *sql.Context, s store.Session) error {
	for _, l := range d.limits {
		switch longer, err := anyRow(ctx, s, quote(d.ref)+" WHERE "+l.exceeds()); {
		case err != nil:
			return classify(err, &d.ref)
		case longer && l.members != nil:
			return mysql.NewSQLError(1265, "01000", "Data truncated for column '%s' at row 1", l.column)
		case longer:
			return types.ErrLengthBeyondLimit.New("", l.column)
		}
	}
	return d.checkCharsets(ctx, s)
}

// charsetLimit is the character set that the texts of a column have to have from an alteration on.
type charsetLimit struct {
	column, name string // as it is named before, and after
	set          sql.CharacterSetID
}

// limitCharset has the texts of a column looked at that is altered.
func (d *definition) limitCharset(c columnDef) {
	if c.from == "" || c.store != "VARCHAR" || c.meta.Generated != "" {
		return
	}
	switch set := c.collation().CharacterSet(); set {
	case sql.CharacterSet_latin1, sql.CharacterSet_ascii, sql.CharacterSet_utf8mb3:
		d.charsets = append(d.charsets, charsetLimit{c.from, c.name, set})
	}
}

// checkCharsets refuses an alteration where a stored text has a character that its column will not
// have.
func (d *definition) checkCharsets(ctx *sql.Context, s store.Session) error {
	for _, l := range d.charsets {
		rows, err := s.Query(ctx, "SELECT "+sqltext.StoreName(l.column)+" FROM "+quote(d.ref)+" ORDER BY rowid")
		if err != nil {
			return classify(err, &d.ref)
		}
		n := 0
		err = store.Each(rows, func(row []any) error {
			n++
			text, _ := row[0].(string)
			if at := collation.Outside(l.set, text); at >= 0 {
				return errOutside(text, at, l.name, n)
			}
			return nil
		})
		if err != nil {
			return classify(err, &d.ref)
		}
	}
	return nil
}

// errOutside is MySQL's refusal of a text from a place on, in the row with a number.
func errOutside(text string, at int, column string, row int) error {
	rest, shown := text[at:], ""
	for i := range len(rest) {
		switch b := rest[i]; {
		case i == 6:
			return mysql.NewSQLError(1366, "HY000", "Incorrect string value: '%s...' for column '%s' at row %d", shown, column, row)
		case b >= ' ' && b < 0x7f:
			shown += string(b)
		default:
			shown += fmt.Sprintf("\\x%02X", b)
		}
	}
	return mysql.NewSQLError(1366, "HY000", "Incorrect string value: '%s' for column '%s' at row %d", shown, column, row)
}

package tables

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/store"
	"scrim/functions/standard"
	"scrim/internal/collation"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
)

// depths is the number of tables, one below the other, that MySQL lets foreign keys change rows of.
const depths = 15

// link is a foreign key with its tables. The parent is nil where there is none.
type link struct {
	ForeignKey
	child, parent *Table
	from, to      []int // ordinals of the columns
}

// violated is MySQL's error of a row without a parent, or else of a parent with rows.
func (l *link) violated(orphan bool) error {
	text := quotedNames([]string{l.child.def.Ref.Schema}) + "." + sqltext.Name(l.child.Name()) + ", " + l.Text()
	if orphan {
		return sql.ErrForeignKeyChildViolation.New(text, "", "", "") // INSERT IGNORE knows it
	}
	return mysql.NewSQLError(mysql.ERRowIsReferenced2, mysql.SSConstraintViolation, "Cannot delete or update a parent row: a foreign key constraint fails (%s)", text)
}

// link finds the tables of a foreign key of t.
func (t *Table) link(ctx *sql.Context, k ForeignKey) (*link, error) {
	l := &link{ForeignKey: k, child: t, parent: t}
	if k.Parent != t.Name() {
		stored, ok, err := t.p.store.Table(ctx, store.TableRef{Schema: t.def.Ref.Schema, Name: k.Parent})
		if err != nil {
			return nil, err
		}
		if l.parent = nil; ok && !stored.View {
			if l.parent, err = newTable(ctx, t.p, stored); err != nil {
				return nil, err
			}
		}
	}
	for i, name := range k.Columns {
		l.from = append(l.from, t.schema.IndexOfColName(name))
		if l.parent != nil {
			l.to = append(l.to, l.parent.schema.IndexOfColName(k.Referenced[i]))
		}
	}
	for _, x := range []*Table{l.child, l.parent} {
		if x != nil && (x.schema.IndexOfColName("rowid") >= 0 || slices.Contains(l.from, -1) || slices.Contains(l.to, -1)) {
			return nil, unsupported("Rename the column, or DROP FOREIGN KEY.", "The foreign key %s is about a table with a column named rowid, or without its columns.", k.Name)
		}
	}
	return l, nil
}

// links are the foreign keys of t itself, none where the session does not check them.
func (t *Table) links(ctx *sql.Context) (list []*link, err error) {
	if len(t.foreign) == 0 || !foreignChecks(ctx) {
		return nil, nil
	}
	for _, k := range t.foreign {
		l, err := t.link(ctx, k)
		if err != nil {
			return nil, err
		}
		list = append(list, l)
	}
	return list, nil
}

// referenced are the foreign keys that reference t, likewise.
func (t *Table) referenced(ctx *sql.Context) (list []*link, err error) {
	if !foreignChecks(ctx) {
		return nil, nil
	}
	all, err := t.p.referencing(ctx, t.def.Ref)
	for _, r := range all {
		if err != nil {
			return nil, err
		}
		child := t
		if r.child != t.def.Ref {
			var stored store.Table
			if stored, err = (&Database{p: t.p, name: r.child.Schema}).stored(ctx, r.child.Name); err == nil {
				child, err = newTable(ctx, t.p, stored)
			}
		}
		var l *link
		if err == nil {
			l, err = child.link(ctx, r.ForeignKey)
		}
		list = append(list, l)
	}
	return list, err
}

// linked reports whether foreign keys are to be checked when rows of t change.
func (t *Table) linked(ctx *sql.Context) (bool, error) {
	own, err := t.links(ctx)
	if err != nil {
		return false, err
	}
	others, err := t.referenced(ctx)
	return len(own)+len(others) > 0, err
}

// may asks for leave to look at the rows, and to change them, of the tables that foreign keys lead
// to when rows of t are inserted or removed, or columns of them changed.
func (t *Table) may(ctx *sql.Context, inserts, removes bool, changes []string) error {
	if looks := len(t.foreign) > 0 || removes || len(changes) > 0; !looks || !foreignChecks(ctx) {
		return nil
	}
	all, err := t.p.Describe(ctx, t.def.Ref.Schema)
	if err != nil {
		return err
	}
	return t.p.leave(ctx, all, t.def.Ref, inserts, removes, changes, map[string]bool{})
}

func (p *Provider) leave(ctx *sql.Context, all []*Described, ref store.TableRef, inserts, removes bool, changes []string, seen map[string]bool) error {
	key := fmt.Sprint(ref, removes, changes)
	if seen[key] {
		return nil
	}
	seen[key] = true
	reads := func(name string) error {
		err := p.access.CheckRead(ctx, store.TableRef{Schema: ref.Schema, Name: name})
		if r, ok := refuse.As(err); ok && r.Code == refuse.RawRows {
			return r.With("A foreign key that refuses or changes a row tells which rows are there: have a DBA SET dp_raw = ON, or drop the key and use CALL dp_link.")
		}
		return err
	}
	for _, d := range all {
		other := store.TableRef{Schema: ref.Schema, Name: d.Name}
		for _, k := range d.Foreign {
			if other == ref && k.Parent != ref.Name && (inserts || touches(k.Columns, changes)) {
				if err := reads(k.Parent); err != nil {
					return err
				}
			}
			if k.Parent != ref.Name || !removes && !touches(k.Referenced, changes) {
				continue
			}
			if err := reads(d.Name); err != nil {
				return err
			}
			goes := removes && k.OnDelete == cascade
			if !goes && !(removes && k.OnDelete == setNull) && !(!removes && (k.OnUpdate == cascade || k.OnUpdate == setNull)) {
				continue
			}
			if err := p.access.CheckWrite(ctx, other); err != nil {
				return err
			}
			next := k.Columns
			if goes {
				next = nil
			}
			if err := p.leave(ctx, all, other, false, goes, next, seen); err != nil {
				return err
			}
		}
	}
	return nil
}

func touches(columns, changes []string) bool {
	return slices.ContainsFunc(columns, func(c string) bool { return contains(changes, c) })
}

// never reports whether MySQL, which compares such values by their bytes, finds none equal.
func (l *link) never(i int) bool {
	child, parent := l.child.schema[l.from[i]].Type, l.parent.schema[l.to[i]].Type
	c := columnDef{meta: metaOf(l.child.def.Columns[l.from[i]]), store: l.child.def.Columns[l.from[i]].Type}
	if c.keyType() != "digits" || standard.IsTimespan(child) && standard.IsTimespan(parent) {
		return false
	}
	return fraction(child) != fraction(parent)
}

// dead reports whether no row can have a parent.
func (l *link) dead() bool {
	for i := range l.from {
		if l.never(i) {
			return true
		}
	}
	return false
}

// matches is the condition that a child's row, whose columns the store has under the names given,
// has a parent's row, in the store's SQL. Texts have one collation on both sides.
func (l *link) matches(child func(i int) string, parent string) string {
	parts := make([]string, len(l.from))
	for i := range l.from {
		a, b := child(i), parent+sqltext.StoreName(l.parent.def.Columns[l.to[i]].Name)
		childType, parentType := l.child.schema[l.from[i]].Type, l.parent.schema[l.to[i]].Type
		switch {
		case l.never(i):
			a, b = "1", "2"
		case (types.IsEnum(childType) || types.IsSet(childType)) && childType.String() != parentType.String():
			a, b = ordinal(a, childType), ordinal(b, parentType)
		case types.IsTextOnly(parentType):
			if f := collation.Function(collation.Of(parentType), collation.ForKey); f != "" {
				a, b = f+"("+a+")", f+"("+b+")"
			}
		}
		parts[i] = a + " = " + b
	}
	return "(" + strings.Join(parts, " AND ") + ")"
}

// ordinal is the number of a member of an ENUM, or of the members of a SET, in the store's SQL.
func ordinal(x string, t sql.Type) string {
	if e, ok := t.(sql.EnumType); ok {
		members := e.Values()
		for i, m := range members {
			members[i] = sqltext.StoreText(m)
		}
		return "list_position([" + strings.Join(members, ", ") + "], " + x + ")"
	}
	sum := "0"
	for i, m := range t.(sql.SetType).Values() {
		sum += " + CASE WHEN list_contains(string_split(" + x + ", ','), " + sqltext.StoreText(m) + ") THEN " + strconv.FormatUint(1<<i, 10) + "::HUGEINT ELSE 0 END"
	}
	return "CASE WHEN " + x + " IS NOT NULL THEN " + sum + " END"
}

// same is a key's text by which Go compares keys of both tables; ok is false where a part is NULL.
// Texts are compared as matches compares them.
func same(ctx *sql.Context, t *Table, columns []int, values []any) (key string, ok bool) {
	parts := make([]string, len(columns))
	for i, c := range columns {
		v, typ := values[i], t.schema[c].Type
		if v == nil {
			return "", false
		}
		if types.IsEnum(typ) || types.IsSet(typ) {
			if n, _, err := typ.Convert(ctx, v); err == nil {
				v = n
			}
		}
		if text, isText := v.(string); isText && types.IsTextOnly(typ) {
			v = collation.Key(collation.Of(typ), text)
		}
		parts[i] = strconv.Quote(fmt.Sprint(v))
	}
	return strings.Join(parts, ","), true
}

// fraction is the width of a type's fractions, and of what is before them, which values have to
// share that MySQL compares by their bytes.
func fraction(t sql.Type) string {
	switch t := t.(type) {
	case sql.DecimalType:
		whole := int(t.Precision()) - int(t.Scale())
		return fmt.Sprint("decimal ", whole/9, leftover[whole%9], " ", t.Scale())
	case sql.DatetimeType:
		kind, _, _ := strings.Cut(t.String(), "(")
		return fmt.Sprint(kind, (t.Precision()+1)/2)
	case types.BitType:
		return fmt.Sprint("bit", t.NumberOfBits())
	}
	return "time"
}

// leftover are the bytes of MySQL's decimals for digits that fill no word of nine.
var leftover = [9]int{0, 1, 1, 2, 2, 3, 3, 4, 4}

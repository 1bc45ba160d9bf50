package tables

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/engine/store"
	"scrim/internal/collation"
	"scrim/internal/sqltext"
	"scrim/planner/parse"
)

// declaredFormula is the expression of a column that the statement declares as generated, nil for
// others.
func declaredFormula(ctx *sql.Context, column string) (e sqlparser.Expr, virtual bool) {
	for _, c := range declaredColumns(ctx) {
		if c.Name.EqualString(column) && c.Type.GeneratedExpr != nil {
			return c.Type.GeneratedExpr, !bool(c.Type.Stored)
		}
	}
	return nil, false
}

// declaredParts are the expressions of the keys that a statement declares with some, nil for a
// part that is a column.
func declaredParts(ctx *sql.Context) (list [][]sqlparser.Expr) {
	add := func(fields []*sqlparser.IndexField) {
		parts, any := make([]sqlparser.Expr, len(fields)), false
		for i, f := range fields {
			if parts[i] = f.Expression; f.Expression != nil {
				parts[i], any = parse.Part(f.Expression), true
			}
		}
		if any {
			list = append(list, parts)
		}
	}
	for _, s := range specsOf(ctx) {
		if s.IndexSpec != nil {
			add(s.IndexSpec.Fields)
		}
		if s.TableSpec != nil {
			for _, i := range s.TableSpec.Indexes {
				add(i.Fields)
			}
		}
	}
	return list
}

// saying are MySQL's errors about an expression of the catalogue, which say whose it is.
type saying struct{ function, named, variable, auto, unknown complaint }

type complaint struct {
	code int
	text string
}

func (c complaint) about(of ...any) error {
	return mysql.NewSQLError(c.code, "HY000", "%s", fmt.Sprintf(c.text, of...))
}

var (
	ofCheck = saying{
		complaint{3815, "An expression of a check constraint '%s' contains disallowed function."},
		complaint{3814, "An expression of a check constraint '%s' contains disallowed function: %s."},
		complaint{3816, "An expression of a check constraint '%s' cannot refer to a user or system variable."},
		complaint{3818, "Check constraint '%s' cannot refer to an auto-increment column."},
		complaint{3820, "Check constraint '%s' refers to non-existing column '%s'."},
	}
	ofGenerated = saying{
		complaint{3102, "Expression of generated column '%s' contains a disallowed function."},
		complaint{3763, "Expression of generated column '%s' contains a disallowed function: %s."},
		complaint{3765, "Expression of generated column '%s' cannot refer user or system variables."},
		complaint{3109, "Generated column '%s' cannot refer to auto-increment column."},
		complaint{1054, "Unknown column '%[2]s' in 'generated column function'"},
	}
	ofIndex = saying{
		complaint{3758, "Expression of functional index '%s' contains a disallowed function."},
		complaint{3758, "Expression of functional index '%s' contains a disallowed function: %s."},
		complaint{3758, "Expression of functional index '%s' contains a disallowed function."},
		complaint{3754, "Functional index '%s' cannot refer to an auto-increment column."},
		complaint{1054, "Unknown column '%[2]s' in 'functional index'"},
	}
)

// deterministic refuses an expression whose value is not of the row alone, or that MySQL refuses. A
// nil definition leaves columns out.
func (d *definition) deterministic(e sqlparser.Expr, name string, say saying) error {
	return sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.Subquery, *sqlparser.Default, *sqlparser.ValuesFuncExpr, *sqlparser.GroupConcatExpr, *sqlparser.MatchExpr:
			return false, say.function.about(name)
		case *sqlparser.FuncExpr:
			if f := n.Name.Lowered(); changing[f] || n.IsAggregate() || n.Over != nil || strings.HasPrefix(f, "dp_") {
				return false, say.named.about(name, f)
			}
		case *sqlparser.ColName:
			if strings.HasPrefix(n.Name.String(), "@") {
				return false, say.variable.about(name)
			}
			if d == nil {
				return true, nil
			}
			switch at := d.column(n.Name.String()); {
			case at < 0 || d.columns[at].hidden:
				return false, say.unknown.about(name, n.Name.String())
			case d.columns[at].meta.Auto:
				return false, say.auto.about(name)
			}
		}
		return true, nil
	}, e)
}

// written is the text of an expression, with small letters in names of functions and operations in
// brackets as MySQL writes them, but for the expression itself.
func (d *definition) written(e sqlparser.Expr) string {
	e = unbracketed(e)
	text := sqlparser.NewTrackedBuffer(func(b *sqlparser.TrackedBuffer, n sqlparser.SQLNode) {
		if c, ok := n.(*sqlparser.ColName); ok {
			b.WriteString(sqltext.Name(d.columns[d.column(c.Name.String())].name))
			return
		}
		switch x := n.(type) {
		case *sqlparser.ParenExpr:
			if operation(x.Expr) {
				n = x.Expr
			}
		case *sqlparser.FuncExpr:
			f := *x
			f.Name = sqlparser.NewColIdent(x.Name.Lowered())
			f.Format(b)
			return
		}
		if n != e && operation(n) {
			b.WriteByte('(')
			n.Format(b)
			b.WriteByte(')')
			return
		}
		n.Format(b)
	})
	text.Myprintf("%v", e)
	return text.String()
}

// bracketed is written with brackets around an operation.
func (d *definition) bracketed(e sqlparser.Expr) string {
	text := d.written(e)
	if operation(unbracketed(e)) {
		return "(" + text + ")"
	}
	return text
}

// unbracketed is an expression without the brackets around it.
func unbracketed(e sqlparser.Expr) sqlparser.Expr {
	for inner, ok := e.(*sqlparser.ParenExpr); ok; inner, ok = e.(*sqlparser.ParenExpr) {
		e = inner.Expr
	}
	return e
}

// generate gives the generated columns that a statement declares their texts, and refuses what they
// and defaults may not refer to.
func (d *definition) generate() error {
	for i := range d.columns {
		c := &d.columns[i]
		if c.formula == nil {
			continue
		}
		if err := d.deterministic(c.formula, c.name, ofGenerated); err != nil {
			return err
		}
		c.meta.Generated, c.formula, c.computed = d.bracketed(c.formula), nil, true
	}
	for i, c := range d.columns {
		for _, name := range columnsIn(c.meta.Generated) {
			if at := d.column(name); at >= i && d.columns[at].meta.Generated != "" {
				return mysql.NewSQLError(3107, "HY000", "Generated column can refer only to generated columns defined prior to it.")
			}
		}
		if slices.ContainsFunc(d.keys, func(k keyDef) bool { return c.meta.Virtual && k.primary && contains(k.columns, c.name) }) {
			return unsupportedGenerated("Defining a virtual generated column as primary key")
		}
	}
	return d.defaults()
}

func unsupportedGenerated(what string) error {
	return mysql.NewSQLError(3106, "HY000", "'%s' is not supported for generated columns.", what)
}

// checkDeclared refuses generated columns that a statement declares and MySQL does not take, before
// go-mysql-server looks at them as at defaults.
func checkDeclared(ctx *sql.Context) error {
	for _, c := range declaredColumns(ctx) {
		switch e := c.Type.GeneratedExpr; {
		case e == nil:
		case c.Type.Default != nil:
			return mysql.NewSQLError(1221, "HY000", "Incorrect usage of DEFAULT and generated column")
		case bool(c.Type.Autoincrement):
			return mysql.NewSQLError(1221, "HY000", "Incorrect usage of AUTO_INCREMENT and generated column")
		default:
			if err := (*definition)(nil).deterministic(e, c.Name.String(), ofGenerated); err != nil {
				return err
			}
		}
	}
	return nil
}

// defaults refuses the default of a column that refers to one behind it, where that has no value of
// its own before, or to itself.
func (d *definition) defaults() error {
	for i, c := range d.columns {
		for _, name := range columnsIn(c.meta.Default) {
			at := d.column(name)
			switch {
			case at < 0:
				return mysql.NewSQLError(1054, "42S22", "Unknown column '%s' in 'default value expression'", name)
			case d.columns[at].meta.Auto:
				return mysql.NewSQLError(3768, "HY000", "Default value expression of column '%s' cannot refer to an auto-increment column.", c.name)
			}
			_, computed := defaultOf(d.columns[at].meta.Default)
			if at == i || at > i && (computed || d.columns[at].meta.Generated != "") {
				return mysql.NewSQLError(3767, "HY000", "Default value expression of column '%s' cannot refer to a column defined after it "+
					"if that column is a generated column or has an expression as default value.", c.name)
			}
		}
	}
	return nil
}

// addPart gives a key the text of a part that is an expression.
func (d *definition) addPart(ctx *sql.Context, p *Provider, k *keyDef, part int) error {
	e, name := unbracketed(k.parts[part]), k.name
	name = cmp.Or(name, "functional_index")
	if _, plain := e.(*sqlparser.ColName); plain {
		return mysql.NewSQLError(3762, "HY000", "Functional index on a column is not supported. Consider using a regular index instead.")
	}
	if err := d.deterministic(e, name, ofIndex); err != nil {
		return err
	}
	if k.exprs == nil {
		k.exprs, k.types, k.collates = make([]string, len(k.columns)), make([]sql.Type, len(k.columns)), make([]sql.CollationID, len(k.columns))
	}
	k.columns[part], k.exprs[part] = "", d.bracketed(e)
	t, err := newTable(ctx, p, d.table())
	if err != nil {
		return err
	}
	texts := make([]string, len(t.kinds))
	texts[0] = k.exprs[part]
	bound, err := p.bind(ctx, d.ref, t.kinds, texts)
	if err != nil {
		return err
	}
	k.collates[part], _ = sql.GetCoercibility(ctx, bound[0])
	if k.types[part] = bound[0].Type(ctx); types.IsJSON(k.types[part]) || types.IsGeometry(k.types[part]) {
		return mysql.NewSQLError(3753, "HY000", "Cannot create a functional index on a function that returns a JSON or GEOMETRY value.")
	}
	return nil
}

// hide adds hidden columns in the place of a key's prefixes and expressions, and of texts that are
// not equal by their bytes alone.
func (d *definition) hide(k *keyDef) error {
	stored := slices.Clone(k.columns)
	for i := range k.columns {
		c := columnDef{nullable: true, hidden: true, computed: true}
		switch {
		case k.stored != nil && k.stored[i] != k.columns[i]:
			stored[i] = k.stored[i]
			continue
		case k.expression(i) != "" && types.IsTextOnly(k.types[i]) && !collation.ByBytes(k.collates[i]):
			c.keyBy(k.collates[i])
		case k.expression(i) != "":
			t, stored, err := storedType(k.types[i], sql.Collation_Default)
			if err != nil {
				return err
			}
			c.store, c.meta.MySQL = stored, t.String()
		case !collation.ByBytes(d.columns[d.column(k.columns[i])].collation()):
			c.keyBy(d.columns[d.column(k.columns[i])].collation())
		case k.lengths != nil && k.lengths[i] > 0:
			of := d.columns[d.column(k.columns[i])]
			c.store, c.meta.MySQL = of.store, of.meta.MySQL
		default:
			continue
		}
		for n := 0; c.name == "" || d.column(c.name) >= 0; n++ {
			c.name = fmt.Sprintf("%s%s!%d!%d", store.HiddenColumn, fold(k.name), i, n)
		}
		stored[i], d.columns = c.name, append(d.columns, c)
	}
	if k.stored = stored; slices.Equal(stored, k.columns) {
		k.stored = nil
	}
	return nil
}

// keyBy makes a hidden column one of texts' keys by a collation.
func (c *columnDef) keyBy(by sql.CollationID) {
	c.store, c.meta.MySQL, c.meta.Key = "VARCHAR", types.LongText.String(), by.Name()
}

// rehide makes the hidden columns anew that keys have in the place of a column whose type changes.
func (d *definition) rehide(column string) error {
	for i := range d.keys {
		k := &d.keys[i]
		if k.plain || !contains(k.columns, column) {
			continue
		}
		if k.stored != nil {
			k.stored = slices.Clone(k.stored)
		}
		for part, name := range k.stored {
			if k.expression(part) == "" && name != k.columns[part] {
				d.columns = slices.DeleteFunc(slices.Clone(d.columns), func(c columnDef) bool { return c.name == name })
				k.stored[part] = k.columns[part]
			}
		}
		if err := d.hide(k); err != nil {
			return err
		}
	}
	return nil
}

package views

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/store"
	"scrim/internal/params"
	"scrim/internal/sqltext"
)

// Charged is a charge of a private statement: its text without literals, the tables, and what it
// cost.
type Charged struct {
	Statement string
	Tables    []string
	Rho       float64
}

// Suggestion is a view that would have answered most of what was charged, by the texts.
type Suggestion struct {
	Statement string // that makes it; "" where no view would have answered anything
	Answered  []int  // which of the charges
	Unread    int    // charges whose text no view answers, or does not tell what was asked
}

// kind is all charges that ask the same of a view.
type kind struct {
	*asks
	charges []int
	rho     float64
}

// mostDimensions bounds a suggestion: cells of more are mostly noise.
const mostDimensions = 6

// Suggest proposes the view that would have answered the most of what charges have cost. It plans
// definitions with the rights of the session, and runs nothing.
func (v *Views) Suggest(ctx *sql.Context, charges []Charged) (Suggestion, error) {
	var out Suggestion
	kinds := map[string]*kind{}
	for i, c := range charges {
		a, ok := v.readCharged(ctx, c)
		if !ok {
			out.Unread++
			continue
		}
		slices.Sort(a.columns)
		name := fmt.Sprint(a.from, a.columns, a.measures, a.moments)
		if kinds[name] == nil {
			kinds[name] = &kind{asks: a}
		}
		kinds[name].charges, kinds[name].rho = append(kinds[name].charges, i), kinds[name].rho+c.Rho
	}
	byFrom := map[string][]*kind{}
	for _, k := range kinds {
		byFrom[k.from] = append(byFrom[k.from], k)
	}
	best := 0.0
	for _, from := range slices.Sorted(maps.Keys(byFrom)) {
		p := &proposal{v: v, from: from, dims: map[string]string{}}
		rho, answered := p.cover(ctx, byFrom[from])
		if rho <= best {
			continue
		}
		ref, err := v.freeName(ctx, charges[answered[0]].Tables[0])
		if err != nil {
			return out, err
		}
		best, out.Answered = rho, answered
		out.Statement = fmt.Sprintf("CALL dp_create_view(%s, %s, '{\"epsilon\": %v, \"ways\": %d}')", sqltext.Text(ref.String()), sqltext.Text(p.definition(p.columns, p.measures)), params.DefaultEpsilon, p.ways)
	}
	return out, ctx.Err()
}

// readCharged reads the text of a charge.
func (v *Views) readCharged(ctx *sql.Context, c Charged) (*asks, bool) {
	parsed, _, rest, err := v.Engine.Parser.Parse(ctx, strings.ReplaceAll(c.Statement, "(...)", "(?)"), false)
	if err != nil || rest != "" {
		return nil, false
	}
	return readAsks(parsed, c.Tables)
}

// proposal is a view in the making.
type proposal struct {
	v                 *Views
	from              string
	dims              map[string]string // of a column, the dimension that holds it; "": none does
	columns, measures []string
	ways              int
}

// cover adds what is asked, the dearest first, as long as there is such a view, and returns what
// the charges that it answers have cost.
func (p *proposal) cover(ctx *sql.Context, list []*kind) (rho float64, answered []int) {
	slices.SortFunc(list, func(a, b *kind) int {
		if a.rho != b.rho {
			return map[bool]int{true: -1, false: 1}[a.rho > b.rho]
		}
		return strings.Compare(fmt.Sprint(a.columns, a.measures), fmt.Sprint(b.columns, b.measures))
	})
	for _, k := range list {
		columns, measures := union(p.columns, k.columns), union(p.measures, k.measures)
		if !p.holds(ctx, k) || len(columns) > mostDimensions {
			continue
		}
		if (len(columns) > len(p.columns) || len(measures) > len(p.measures)) && !p.planned(ctx, columns, measures) {
			continue
		}
		p.columns, p.measures, p.ways = columns, measures, max(p.ways, len(k.columns))
		rho, answered = rho+k.rho, append(answered, k.charges...)
	}
	slices.Sort(answered)
	return rho, answered
}

// union is two lists, without what is there twice.
func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, x := range b {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

// holds reports whether each column has public values: its own, or as a moment those of its date.
func (p *proposal) holds(ctx *sql.Context, k *kind) bool {
	for _, c := range k.columns {
		if _, known := p.dims[c]; !known {
			p.dims[c] = ""
			for _, dim := range []string{c, "DATE(" + c + ")"} {
				p.dims[c] = dim
				if p.planned(ctx, []string{c}, []string{"COUNT(*)"}) {
					break
				}
				p.dims[c] = ""
			}
		}
		if d := p.dims[c]; d == "" || d != c && k.moments[c] {
			return false
		}
	}
	return true
}

// planned reports whether there is a view of these columns and measures.
func (p *proposal) planned(ctx *sql.Context, columns, measures []string) bool {
	_, err := p.v.planned(ctx, p.definition(columns, measures), Loss{Epsilon: params.DefaultEpsilon}, Options{}.planned(nil, nil))
	return err == nil && ctx.Err() == nil
}

// notWord are the characters that do not stand in a plain name.
var notWord = regexp.MustCompile(`\W+`)

// definition writes the definition.
func (p *proposal) definition(columns, measures []string) string {
	used := map[string]bool{}
	as := func(text string) string {
		name := strings.Trim(notWord.ReplaceAllString(text, "_"), "_")
		for n := 2; used[strings.ToLower(name)]; n++ {
			name = strings.TrimRight(name, "0123456789") + fmt.Sprint(n)
		}
		used[strings.ToLower(name)] = true
		return name
	}
	var items, by []string
	for i, c := range columns {
		plain := c[strings.LastIndex(c, ".")+1:]
		if name := as(plain); p.dims[c] == c && name == plain {
			items = append(items, c)
		} else {
			items = append(items, p.dims[c]+" AS "+sqltext.Name(name))
		}
		by = append(by, fmt.Sprint(i+1))
	}
	for _, m := range measures {
		name := "n"
		if m != "COUNT(*)" {
			name = map[bool]string{true: "n_", false: "s_"}[strings.HasPrefix(m, "COUNT")] + m[strings.Index(m, "(")+1:len(m)-1]
		}
		items = append(items, m+" AS "+sqltext.Name(as(name)))
	}
	return "SELECT " + sqltext.List(items) + " FROM " + p.from + " GROUP BY " + sqltext.List(by)
}

// freeName is a name for a view of a table that no other has.
func (v *Views) freeName(ctx *sql.Context, table string) (store.TableRef, error) {
	schema, name, _ := strings.Cut(table, ".")
	for n := 1; ; n++ {
		ref := store.TableRef{Schema: schema, Name: name + "_view"}
		if n > 1 {
			ref.Name += fmt.Sprint(n)
		}
		_, there, err := v.st.Table(ctx, ref)
		if err == nil && !there {
			there, err = v.Tables.HasView(ctx, ref.Schema, ref.Name)
		}
		if err != nil || !there {
			return ref, err
		}
	}
}

package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"scrim/internal/params"
	"scrim/internal/refuse"
)

// fakeSchema lists what a store holds: tables with their columns; a column that ends in ! is a key.
type fakeSchema map[string][]string

func (s fakeSchema) HasTable(t string) bool { _, ok := s[t]; return ok }

// ColumnType tells the types of columns that are named after them.
func (s fakeSchema) ColumnType(t, c string) string {
	return map[string]string{"a_date": "DATE", "a_moment": "TIMESTAMP", "a_number": "BIGINT"}[c]
}

func (s fakeSchema) HasColumn(t, c string) bool {
	for _, x := range s[t] {
		if strings.TrimSuffix(x, "!") == c {
			return true
		}
	}
	return false
}

func (fakeSchema) Collation(string, string) string { return "" }
func (s fakeSchema) IsEnforcedKey(t, c string) bool {
	for _, x := range s[t] {
		if x == c+"!" {
			return true
		}
	}
	return false
}

var shop = fakeSchema{
	"shop.customers": {"id!", "name"},
	"shop.orders":    {"id!", "customer_id", "region", "amount"},
	"shop.lineitem":  {"id!", "order_id", "note"},
	"shop.parts":     {"id!", "item_id"},
	"shop.regions":   {"name!"},
	"shop.odd":       {"row", "x"},
	"shop.new":       {"id", "customer_id"},
}

const dir = "directory-1"

func open(t *testing.T) (*Catalog, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "catalog")
	c, err := Open(path, Options{Create: true, DirectoryID: dir})
	if err != nil {
		t.Fatal(err)
	}
	return c, path
}

// reopened checks that the file holds exactly what the catalogue answers.
func reopened(t *testing.T, c *Catalog) {
	t.Helper()
	d, err := Open(c.path, Options{DirectoryID: dir})
	if err != nil {
		t.Fatal(err)
	}
	got, want := fmt.Sprintf("%+v", dump(d.Snapshot())), fmt.Sprintf("%+v", dump(c.Snapshot()))
	if got != want {
		t.Errorf("read back\n%s\nwant\n%s", got, want)
	}
}

func dump(s *Snapshot) []string {
	out := []string{fmt.Sprint(s.revision)}
	for _, t := range s.All() {
		out = append(out, fmt.Sprintf("%s %s account=%s entity=%s unit=%s relation=%v sized=%v domains=%v defaults=%+v",
			t.Name, t.State, t.Account, t.Entity, t.Unit, t.Relation, t.Sized, t.Domains, t.Defaults))
	}
	return out
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// refused checks that err is a policy refusal with the words.
func refused(t *testing.T, err error, words ...string) {
	t.Helper()
	e, isRefusal := refuse.As(err)
	if !isRefusal || e.Code != refuse.Policy {
		t.Errorf("got %v, want a refusal", err)
		return
	}
	for _, w := range words {
		if !strings.Contains(e.Error(), w) {
			t.Errorf("%q does not say %q", e, w)
		}
	}
}

func TestProtect(t *testing.T) {
	c, _ := open(t)
	if got := c.Snapshot().Table("shop.orders"); got.State != Undeclared || got.Account != "" {
		t.Errorf("a table that nobody declared: %+v", got)
	}
	ok(t, c.Protect(shop, "Shop.Orders", "Customer_ID", "Customer"))
	got := c.Snapshot().Table("SHOP.ORDERS")
	if got.State != Protected || got.Unit.Column != "customer_id" || got.Entity != "customer" || got.Account != "shop.orders" {
		t.Errorf("got %+v", got)
	}
	rev := c.Snapshot().revision
	ok(t, c.Protect(shop, "shop.orders", "customer_id", "customer"))
	if c.Snapshot().revision != rev {
		t.Error("protecting again in the same way is a change")
	}
	ok(t, c.Protect(shop, "shop.customers", "row", "customer"))
	if u := c.Snapshot().Table("shop.customers").Unit; !u.Row || u.Column != "" {
		t.Errorf("got %+v", u)
	}
	refused(t, c.Protect(shop, "shop.orders", "id", "customer"), "already protected", "dp_unprotect")
	refused(t, c.Protect(shop, "shop.orders", "row", "customer"), "already protected")
	refused(t, c.Protect(shop, "shop.orders", "customer_id", "visitor"), "belongs to entity customer")
	refused(t, c.Protect(shop, "shop.nothing", "id", "customer"), "no table")
	refused(t, c.Protect(shop, "shop.regions", "id", "customer"), "no column")
	refused(t, c.Protect(shop, "shop.regions", "", "customer"), "no column")
	refused(t, c.Protect(shop, "regions", "name", "customer"), "schema.table")
	refused(t, c.Protect(shop, "a.b.c", "name", "customer"), "schema.table")
	refused(t, c.Protect(shop, "shop.regions", "name", ""), "entity")
	refused(t, c.Protect(shop, "shop.regions", "name", "*"), "entity")
	refused(t, c.Protect(shop, "shop.regions", "name", "default"), "entity")
	refused(t, c.Protect(shop, "shop.regions", "name", "a b"), "entity")
	refused(t, c.Protect(shop, "shop.odd", "ROW", "customer"), "column named row")
	refused(t, c.Protect(shop, "shop.\x00orders", "id", "customer"))
	if fmt.Sprint(c.Snapshot().Entities()) != "[customer]" {
		t.Errorf("entities %v", c.Snapshot().Entities())
	}
	reopened(t, c)
}

// TestUnprotectRefillsNothing: account and entity survive, and public takes a step of its own.
func TestUnprotectRefillsNothing(t *testing.T) {
	c, _ := open(t)
	ok(t, c.Protect(shop, "shop.orders", "customer_id", "customer"))
	refused(t, c.Public(shop, "shop.orders"), "dp_unprotect")
	ok(t, c.Unprotect("shop.orders"))
	if got := c.Snapshot().Table("shop.orders"); got.State != Undeclared || got.Account != "shop.orders" || got.Unit != (Unit{}) {
		t.Errorf("got %+v", got)
	}
	refused(t, c.Unprotect("shop.orders"), "not protected")
	refused(t, c.Protect(shop, "shop.orders", "customer_id", "fresh"), "belongs to entity customer")
	ok(t, c.Protect(shop, "shop.orders", "id", "customer"))
	if got := c.Snapshot().Table("shop.orders"); got.Account != "shop.orders" || got.Unit.Column != "id" {
		t.Errorf("got %+v", got)
	}
	ok(t, c.Unprotect("shop.orders"))
	ok(t, c.Public(shop, "shop.orders"))
	ok(t, c.Public(shop, "shop.orders"))
	ok(t, c.Protect(shop, "shop.orders", "id", "customer"))
	if got := c.Snapshot().Table("shop.orders"); got.Account != "shop.orders" || got.State != Protected {
		t.Errorf("got %+v", got)
	}
	reopened(t, c)
}

// TestEntityBeforeSpending lets a DBA correct an entity as long as nothing was charged.
func TestEntityBeforeSpending(t *testing.T) {
	charged := map[string]bool{}
	c, err := Open(filepath.Join(t.TempDir(), "c"), Options{Create: true, DirectoryID: dir, Charged: func(a string) bool { return charged[a] }})
	ok(t, err)
	ok(t, c.Protect(shop, "shop.orders", "customer_id", "custmer"))
	ok(t, c.Link(shop, "shop.lineitem", "order_id", "shop.orders", "id"))
	refused(t, c.Protect(shop, "shop.orders", "customer_id", "customer"), "belongs to entity custmer")
	ok(t, c.Unprotect("shop.lineitem"))
	ok(t, c.Protect(shop, "shop.orders", "customer_id", "customer"))
	charged["shop.orders"] = true
	refused(t, c.Protect(shop, "shop.orders", "customer_id", "visitor"), "belongs to entity customer")
	ok(t, c.Unprotect("shop.orders"))
	refused(t, c.Protect(shop, "shop.orders", "customer_id", "visitor"), "belongs to entity customer")
}

func TestLink(t *testing.T) {
	c, _ := open(t)
	refused(t, c.Link(shop, "shop.lineitem", "order_id", "shop.orders", "id"), "not protected")
	ok(t, c.Protect(shop, "shop.orders", "customer_id", "customer"))
	refused(t, c.Link(shop, "shop.lineitem", "order_id", "shop.orders", "customer_id"), "not a key")
	refused(t, c.Link(shop, "shop.lineitem", "nothing", "shop.orders", "id"), "no column")
	refused(t, c.Link(shop, "shop.lineitem", "order_id", "shop.orders", "nothing"), "no column")
	refused(t, c.Link(shop, "shop.lineitem", "order_id", "shop.nothing", "id"), "no table")
	refused(t, c.Link(shop, "shop.orders", "customer_id", "shop.orders", "id"), "itself")
	ok(t, c.Link(shop, "shop.lineitem", "order_id", "shop.orders", "id"))
	ok(t, c.Link(shop, "shop.lineitem", "order_id", "shop.orders", "id"))
	ok(t, c.Link(shop, "shop.parts", "item_id", "shop.lineitem", "id"))
	got := c.Snapshot().Table("shop.parts")
	if got.Entity != "customer" || got.Unit.Link == nil || *got.Unit.Link != (Link{"item_id", "shop.lineitem", "id"}) {
		t.Errorf("got %+v", got)
	}
	refused(t, c.Unprotect("shop.orders"), "shop.lineitem")
	refused(t, c.Unprotect("shop.lineitem"), "shop.parts")
	refused(t, c.Link(shop, "shop.lineitem", "id", "shop.orders", "id"), "already protected")
	reopened(t, c)
}

// TestLinkCircles closes circles of every length up to the whole chain.
func TestLinkCircles(t *testing.T) {
	const n = 40
	schema := fakeSchema{}
	at := func(i int) string { return fmt.Sprintf("s.t%d", i) }
	for i := range n {
		schema[at(i)] = []string{"id!", "up"}
	}
	c, _ := open(t)
	ok(t, c.Protect(schema, at(0), "up", "person"))
	for i := 1; i < n; i++ {
		ok(t, c.Link(schema, at(i), "up", at(i-1), "id"))
	}
	for i := 1; i < n; i++ {
		refused(t, c.Link(schema, at(0), "up", at(i), "id"), "circle")
	}
	// Past the public check, too: a state with a circle is never made.
	s := c.Snapshot().clone()
	root := s.Table(at(0))
	root.Unit = Unit{Link: &Link{"up", at(n - 1), "id"}}
	s.put(root)
	refused(t, s.verify(), "come back")
}

// TestDropAndRecreate: protection and account of a name survive; a public name is looked at again.
func TestDropAndRecreate(t *testing.T) {
	c, _ := open(t)
	ok(t, c.Protect(shop, "shop.orders", "customer_id", "customer"))
	ok(t, c.Public(shop, "shop.regions"))
	ok(t, c.Public(shop, "shop.new"))
	before := c.Snapshot().Table("shop.orders")
	ok(t, c.Dropped("shop.orders"))
	ok(t, c.Created("shop.orders"))
	if got := c.Snapshot().Table("shop.orders"); fmt.Sprint(got) != fmt.Sprint(before) {
		t.Errorf("got %+v, want %+v", got, before)
	}
	ok(t, c.Dropped("Shop.Regions"))
	ok(t, c.Created("shop.NEW"))
	ok(t, c.Dropped("shop.never"))
	for _, name := range []string{"shop.regions", "shop.new"} {
		if got := c.Snapshot().Table(name); got.State != Undeclared {
			t.Errorf("%s is %s after it was dropped or made anew", name, got.State)
		}
	}
	reopened(t, c)
}

func TestRename(t *testing.T) {
	c, _ := open(t)
	ok(t, c.Protect(shop, "shop.orders", "customer_id", "customer"))
	ok(t, c.Link(shop, "shop.lineitem", "order_id", "shop.orders", "id"))
	ok(t, c.Public(shop, "shop.regions"))
	ok(t, c.SetDomain(shop, "", "shop.orders", "region", `{"table":"shop.regions","column":"name"}`))
	ok(t, c.Rename("Shop.Orders", "shop.Sales"))
	for _, name := range []string{"shop.orders", "shop.sales"} {
		if got := c.Snapshot().Table(name); got.State != Protected || got.Account != "shop.orders" || got.Unit.Column != "customer_id" || len(got.Domains) != 1 {
			t.Errorf("after the rename: %+v", got)
		}
	}
	if l := c.Snapshot().Table("shop.lineitem").Unit.Link; l.Parent != "shop.sales" {
		t.Errorf("the link does not follow: %+v", l)
	}
	ok(t, c.Rename("shop.regions", "shop.areas"))
	if c.Snapshot().Table("shop.areas").State != Public || c.Snapshot().Table("shop.regions").State != Undeclared {
		t.Errorf("public rename: %v", dump(c.Snapshot()))
	}
	if d := c.Snapshot().Table("shop.sales").Domains["region"]; d.Source.Table != "shop.areas" {
		t.Errorf("the domain does not follow: %s", d)
	}
	// Back again, as after a rolled back rename.
	ok(t, c.Rename("shop.sales", "shop.orders"))
	if l := c.Snapshot().Table("shop.lineitem").Unit.Link; l.Parent != "shop.orders" {
		t.Errorf("the link does not come back: %+v", l)
	}
	// The nightly swap: a new table takes the place of the old one.
	ok(t, c.Rename("shop.orders", "shop.orders_old"))
	ok(t, c.Rename("shop.orders_new", "shop.orders"))
	ok(t, c.Dropped("shop.orders_old"))
	if got := c.Snapshot().Table("shop.orders"); got.State != Protected || got.Account != "shop.orders" {
		t.Errorf("after the swap: %+v", got)
	}
	// Onto the name of another account.
	ok(t, c.Protect(shop, "shop.new", "customer_id", "customer"))
	refused(t, c.Rename("shop.new", "shop.orders"), "bound to the budget")
	refused(t, c.Rename("shop.orders", "shop.new"), "bound to the budget")
	refused(t, c.Rename("shop.new", "a.b.c"), "schema.table")
	// An undeclared table does not become public by taking a public name, nor a public one undo
	// protection.
	ok(t, c.Public(shop, "shop.regions"))
	ok(t, c.Rename("shop.unknown", "shop.regions"))
	if got := c.Snapshot().Table("shop.regions"); got.State != Undeclared {
		t.Errorf("an unknown table took a public name and is %s", got.State)
	}
	ok(t, c.Rename("shop.areas", "shop.orders_old"))
	if got := c.Snapshot().Table("shop.orders_old"); got.State != Protected {
		t.Errorf("a public table took a protected name and is %s", got.State)
	}
	reopened(t, c)
}

// TestRenameOntoReleasedName: a public table that takes a name that was protected once is looked at
// again, and the name keeps its account.
func TestRenameOntoReleasedName(t *testing.T) {
	c, _ := open(t)
	ok(t, c.Protect(shop, "shop.orders", "customer_id", "customer"))
	ok(t, c.Unprotect("shop.orders"))
	ok(t, c.Dropped("shop.orders"))
	ok(t, c.Public(shop, "shop.regions"))
	ok(t, c.Rename("shop.regions", "shop.orders"))
	if got := c.Snapshot().Table("shop.orders"); got.State != Undeclared || got.Account != "shop.orders" || got.Entity != "customer" {
		t.Errorf("got %+v", got)
	}
}

func TestUses(t *testing.T) {
	c, _ := open(t)
	ok(t, c.Protect(shop, "shop.orders", "customer_id", "customer"))
	ok(t, c.Link(shop, "shop.lineitem", "order_id", "shop.orders", "id"))
	ok(t, c.Public(shop, "shop.regions"))
	ok(t, c.SetDomain(shop, "shop", "shop.orders", "region", `{"table":"regions","column":"name"}`))
	for col, want := range map[string]string{
		"shop.orders customer_id": "the unit column of shop.orders",
		"shop.orders ID":          "the key that shop.lineitem is linked to",
		"shop.lineitem order_id":  "the link from shop.lineitem to shop.orders",
		"shop.orders region":      "a column with a domain",
		"shop.regions name":       "the domain of shop.orders.region",
		"shop.orders amount":      "",
		"shop.orders ":            "",
	} {
		table, column, _ := strings.Cut(col, " ")
		if got := strings.Join(c.Snapshot().Uses(table, column), ", "); got != want {
			t.Errorf("%s: got %q, want %q", col, got, want)
		}
	}
}

func TestDomains(t *testing.T) {
	for text, want := range map[string]string{
		`["a","b",null]`: `["a","b",null]`, ` [ 1, 2.5 , -3 ] `: `[1,2.5,-3]`, `[true,false]`: `[true,false]`, `[1.0]`: `[1.0]`, `[null]`: `[null]`,
		`["<=50K",">50K","é","\u0000\""]`: `["<=50K",">50K","é","\u0000\""]`,
		`{"min":0,"max":100}`:             `{"min":0.0,"max":100.0}`, `{"max":1e9,"min":-0.5}`: `{"min":-0.5,"max":1e+09}`,
		`{"table":"S.T","column":"C"}`: `{"table":"s.t","column":"c"}`, `{"min":0,"max":1,"null":true}`: `{"min":0.0,"max":1.0,"null":true}`,
		`{"min":"2020-01-01","max":"2020-12-31"}`: `{"min":"2020-01-01","max":"2020-12-31"}`, `{"min":"2020-01-01","max":"2020-01-01","null":false}`: `{"min":"2020-01-01","max":"2020-01-01"}`,
		`{"min":"2020-01-01T08:00:00","max":"2020-01-01 23:59:59.5","null":true}`: `{"min":"2020-01-01 08:00:00","max":"2020-01-01 23:59:59.5","null":true}`,
	} {
		d, err := ParseDomain(text)
		if err != nil || d.String() != want {
			t.Errorf("%s: got %s, %v, want %s", text, d, err, want)
			continue
		}
		again, err := ParseDomain(d.String())
		if err != nil || fmt.Sprintf("%#v", again.Values) != fmt.Sprintf("%#v", d.Values) || again.String() != want {
			t.Errorf("%s does not survive writing: %s, %v", text, again, err)
		}
	}
	if d, _ := ParseDomain(`[1, 1.5, 9007199254740993]`); d.Values[0] != int64(1) || d.Values[1] != 1.5 || d.Values[2] != int64(9007199254740993) {
		t.Errorf("got %#v", d.Values)
	}
	long := make([]int, MaxDomainValues+1)
	for i := range long {
		long[i] = i
	}
	tooMany, _ := json.Marshal(long)
	for _, bad := range []string{
		"", "[", "[]", "{}", "1", `"a"`, "[1,]", "[1] 2", `["a","a"]`, "[1,1.0]", "[0.0,-0.0]", "[null,null]", `["a",1]`, "[true,1]", "[[1]]", `[{"a":1}]`,
		"[99999999999999999999]", "[1e999]", "[NaN]", string(tooMany), `["` + strings.Repeat("x", MaxDomainText+1) + `"]`, "[\"\xff\"]", strings.Repeat(" ", maxDomainJSON+1),
		`{"min":1,"max":1}`, `{"min":2,"max":1}`, `{"min":1}`, `{"min":1,"max":2,"step":1}`, `{"min":"1","max":2}`, `{"min":1,"max":1e999}`, `{"min":null,"max":1}`,
		`{"min":0,"min":1,"max":2}`, `{"table":"t"}`, `{"table":1,"column":"c"}`, `{"table":"","column":"c"}`, `{"Table":"t","Column":"c"}`,
		`{"min":"2020-01-02","max":"2020-01-01"}`, `{"min":"2020-01-32","max":"2020-12-31"}`, `{"min":"0000-01-01","max":"2020-12-31"}`, `{"min":"2020-01-01","max":5}`,
		`{"min":"2020-01-01","max":"2020-01-01 00:00:00.0000001"}`, `{"min":0,"max":1,"null":1}`, `{"table":"t","column":"c","null":true}`,
	} {
		if _, err := ParseDomain(bad); err == nil {
			t.Errorf("%.80s was accepted", bad)
		} else {
			refused(t, err, `["a","b",null]`)
		}
	}
	all, _ := json.Marshal(long[:MaxDomainValues])
	if d, err := ParseDomain(string(all)); err != nil || len(d.Values) != MaxDomainValues {
		t.Errorf("the largest domain: %v", err)
	}
}

// A domain suits the column's type; a list of dates for moments would leave out what is not
// midnight.
func TestDomainSuitsType(t *testing.T) {
	schema := fakeSchema{"shop.calls": {"a_date", "a_moment", "a_number"}}
	c, _ := open(t)
	set := func(column, domain string) error { return c.SetDomain(schema, "", "shop.calls", column, domain) }
	ok(t, set("a_date", `{"min":"2020-01-01","max":"2020-12-31"}`))
	ok(t, set("a_date", `["2020-01-01","2020-01-02"]`))
	ok(t, set("a_moment", `{"min":"2020-01-01","max":"2020-12-31","null":true}`))
	ok(t, set("a_moment", `["2020-01-01 00:00:00","2020-01-02 00:00:00"]`))
	ok(t, set("a_number", `{"min":0,"max":9}`))
	refused(t, set("a_moment", `["2020-01-01","2020-01-02",null]`), `{"min":"2020-01-01"`)
	refused(t, set("a_moment", `{"min":0,"max":9}`), "no range of numbers")
	refused(t, set("a_date", `{"min":0,"max":9}`), "no range of numbers")
	refused(t, set("a_number", `{"min":"2020-01-01","max":"2020-12-31"}`), "no range of dates")
}

func TestSetDomain(t *testing.T) {
	c, _ := open(t)
	ok(t, c.SetDomain(shop, "", "shop.orders", "Region", `["a","b"]`))
	refused(t, c.SetDomain(shop, "", "shop.orders", "region", `{"table":"shop.regions","column":"name"}`), "not public")
	ok(t, c.Public(shop, "shop.regions"))
	refused(t, c.SetDomain(shop, "", "shop.orders", "region", `{"table":"regions","column":"name"}`), "schema.table")
	refused(t, c.SetDomain(shop, "", "shop.orders", "region", `{"table":"shop.regions","column":"nothing"}`), "no column")
	refused(t, c.SetDomain(shop, "", "shop.orders", "nothing", `["a"]`), "no column")
	ok(t, c.SetDomain(shop, "shop", "shop.orders", "region", `{"table":"regions","column":"name"}`))
	ok(t, c.SetDomain(shop, "", "shop.orders", "amount", `{"min":0,"max":100}`))
	refused(t, c.Protect(shop, "shop.regions", "name", "customer"), "domain of shop.orders.region")
	before := c.Snapshot()
	ok(t, c.SetDomain(shop, "", "shop.orders", "amount", " null "))
	ok(t, c.SetDomain(shop, "", "shop.orders", "amount", "null"))
	if len(c.Snapshot().Table("shop.orders").Domains) != 1 || len(before.Table("shop.orders").Domains) != 2 {
		t.Error("a snapshot changed, or a domain did not go away")
	}
	reopened(t, c)
}

func TestDefaults(t *testing.T) {
	c, _ := open(t)
	ok(t, c.SetDefaults(shop, "shop.orders", `{"dp_epsilon":0.5,"dp_delta":1e-7,"max_epsilon":1,"dp_max_groups_contributed":3,"max_rows_per_unit":20,"min_group_units":10,"dp_method":"Plan","max_persons":1000000}`))
	want := Defaults{Epsilon: 0.5, Delta: 1e-7, MaxEpsilon: 1, MaxGroups: 3, MaxRowsPerUnit: 20, MinimumGroupUnits: 10, Method: "plan", MaxPersons: 1e6}
	if got := c.Snapshot().Table("shop.orders").Defaults; got != want {
		t.Errorf("got %+v", got)
	}
	reopened(t, c)
	ok(t, c.SetDefaults(shop, "shop.orders", `{"dp_rho":0.1}`))
	if got := c.Snapshot().Table("shop.orders").Defaults; got != (Defaults{Rho: 0.1}) {
		t.Errorf("got %+v", got)
	}
	for _, bad := range []string{
		"", "null", "[]", "1", "{", `{"dp_epsilon":0}`, `{"dp_epsilon":-1}`, `{"dp_epsilon":1e308}`, `{"dp_epsilon":1e999}`, `{"dp_epsilon":"1"}`, `{"dp_epsilon":null}`,
		`{"dp_epsilon":true}`, `{"dp_delta":1}`, `{"dp_delta":0}`, `{"dp_rho":0}`, `{"dp_max_groups_contributed":0}`, `{"dp_max_groups_contributed":1.5}`,
		`{"max_rows_per_unit":-1}`, `{"max_rows_per_unit":1e18}`, `{"min_group_units":0}`, `{"dp_method":"best"}`, `{"dp_method":1}`, `{"dp_method":""}`, `{"dp_method":null}`, `{"max_persons":0}`, `{"max_persons":1.5}`, `{"max_persons":"1"}`, `{"epsilon":1}`, `{"dp_epsilon":1,"dp_epsilon":2}`, `{"dp_epsilon":1} 2`,
		`{"dp_epsilon":1,"dp_rho":1}`, `{"dp_epsilon":2,"max_epsilon":1}`,
	} {
		refused(t, c.SetDefaults(shop, "shop.orders", bad))
	}
	for _, p := range params.At(params.Default) {
		if _, ok := settingOf(p.Name); !ok {
			t.Errorf("%s is no key", p.Name)
		}
	}
	if len(params.At(params.Default)) != len(settings) {
		t.Error("a key is not documented")
	}
}

// TestNothingIsRefilled plays random histories and follows the rows of each table: rows are never
// public without a DBA saying so while they were there, are always charged to the account that they
// were charged to first, and a name never changes the account that it is bound to.
func TestNothingIsRefilled(t *testing.T) {
	const seed = 1
	r := rand.New(rand.NewPCG(seed, 0))
	names := []string{"s.a", "s.b", "s.c"}
	schema := fakeSchema{}
	for _, n := range names {
		schema[n] = []string{"u"}
	}
	path := filepath.Join(t.TempDir(), "catalog")
	for game := range 25 {
		_ = os.Remove(path)
		c, err := Open(path, Options{Create: true, DirectoryID: dir})
		ok(t, err)
		type content struct {
			account  string // what the rows were charged to first
			declared bool   // a DBA said public of these rows
		}
		holds, bound := map[string]*content{}, map[string]string{}
		for step := 0; step < 40; {
			n, m := names[r.IntN(len(names))], names[r.IntN(len(names))]
			switch op := r.IntN(12); {
			case op == 0 && holds[n] == nil:
				ok(t, c.Created(n))
				holds[n] = &content{}
			case op == 1 && holds[n] != nil:
				ok(t, c.Dropped(n))
				delete(holds, n)
			case op >= 2 && op < 6 && holds[n] != nil && holds[m] == nil:
				if c.Rename(n, m) == nil && r.IntN(4) > 0 { // else the store rolls the rename back
					holds[m] = holds[n]
					delete(holds, n)
				}
			case op >= 6 && op < 9 && holds[n] != nil:
				_ = c.Protect(schema, n, "u", "person")
			case op >= 9 && op < 11 && holds[n] != nil:
				_ = c.Unprotect(n)
			case op == 11 && holds[n] != nil:
				if c.Public(schema, n) == nil {
					holds[n].declared = true
				}
			default:
				continue
			}
			step++
			for n, h := range holds {
				p := c.Snapshot().Table(n)
				switch {
				case p.State == Public && !h.declared:
					t.Fatalf("seed %d game %d step %d: %s is public and nobody said so", seed, game, step, n)
				case p.State == Protected && h.account == "":
					h.account = p.Account
				case p.State == Protected && h.account != p.Account:
					t.Fatalf("seed %d game %d step %d: rows of %s were charged to %s, now to %s", seed, game, step, n, h.account, p.Account)
				}
			}
			for _, p := range c.Snapshot().All() {
				if was := bound[p.Name]; was != "" && was != p.Account {
					t.Fatalf("seed %d game %d step %d: %s was bound to %s, now to %s", seed, game, step, p.Name, was, p.Account)
				}
				bound[p.Name] = p.Account
			}
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	c, path := open(t)
	ok(t, c.Protect(shop, "shop.orders", "customer_id", "customer"))
	good, err := os.ReadFile(path)
	ok(t, err)
	reject := func(name string, data []byte, want error) {
		t.Helper()
		ok(t, os.WriteFile(path, data, 0o600))
		for _, create := range []bool{false, true} {
			if _, err := Open(path, Options{DirectoryID: dir, Create: create}); !errors.Is(err, want) {
				t.Errorf("%s: got %v, want %v", name, err, want)
			}
		}
		if now, _ := os.ReadFile(path); !bytes.Equal(now, data) {
			t.Errorf("%s: the file was changed", name)
		}
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0x08
		ok(t, os.WriteFile(path, bad, 0o600))
		if _, err := Open(path, Options{DirectoryID: dir}); err == nil {
			t.Fatalf("a flipped bit in byte %d goes unseen", i)
		}
	}
	for _, n := range []int{0, 1, len(good) / 2, len(good) - 1} {
		reject(fmt.Sprintf("%d bytes", n), good[:n], ErrDamaged)
	}
	reject("appended", append(bytes.Clone(good), ' '), ErrDamaged)
	reject("version", bytes.Replace(good, []byte(`"version":2`), []byte(`"version":3,"later":true`), 1), ErrVersion)
	reject("no version", bytes.Replace(good, []byte(`"version":2`), []byte(`"version":0`), 1), ErrDamaged)
	ok(t, os.WriteFile(path, good, 0o600))
	if _, err := Open(path, Options{DirectoryID: "directory-2"}); !errors.Is(err, ErrForeign) {
		t.Errorf("got %v, want %v", err, ErrForeign)
	}
	if _, err := Open(path+"x", Options{DirectoryID: dir}); !errors.Is(err, ErrMissing) {
		t.Errorf("got %v, want %v", err, ErrMissing)
	}
	if _, err := Open(path, Options{}); err == nil {
		t.Error("a catalogue without a directory id was opened")
	}
	if _, err := Open(path, Options{DirectoryID: dir}); err != nil {
		t.Error(err)
	}
}

// TestFailedWrite: nothing is visible that may not be durable, and nothing is changed afterwards.
func TestFailedWrite(t *testing.T) {
	c, path := open(t)
	ok(t, c.Public(shop, "shop.regions"))
	ok(t, os.RemoveAll(filepath.Dir(path)))
	for range 2 {
		if err := c.Protect(shop, "shop.orders", "customer_id", "customer"); !errors.Is(err, ErrUnavailable) {
			t.Errorf("got %v, want %v", err, ErrUnavailable)
		}
	}
	if s := c.Snapshot(); s.Table("shop.orders").State != Undeclared || s.Table("shop.regions").State != Public {
		t.Errorf("got %v", dump(s))
	}
}

// TestSecondProcess: a file that somebody else replaced is not overwritten.
func TestSecondProcess(t *testing.T) {
	c, path := open(t)
	d, err := Open(path, Options{DirectoryID: dir})
	ok(t, err)
	ok(t, d.Protect(shop, "shop.orders", "customer_id", "customer"))
	if err := c.Public(shop, "shop.orders"); !errors.Is(err, ErrUnavailable) {
		t.Errorf("got %v, want %v", err, ErrUnavailable)
	}
	reopened(t, d)
}

// TestStrayFiles: a crash before the rename leaves the old state.
func TestStrayFiles(t *testing.T) {
	c, path := open(t)
	ok(t, c.Public(shop, "shop.regions"))
	ok(t, os.WriteFile(filepath.Join(filepath.Dir(path), ".catalog.123"), []byte(`{"format":`), 0o600))
	reopened(t, c)
	ok(t, c.Public(shop, "shop.new"))
	reopened(t, c)
	files, err := os.ReadDir(filepath.Dir(path))
	ok(t, err)
	if len(files) != 2 {
		t.Errorf("a change leaves files behind: %v", files)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the file can be read by others: %v, %v", info.Mode(), err)
	}
}

func TestConcurrentUse(t *testing.T) {
	c, _ := open(t)
	schema := fakeSchema{}
	const n = 16
	for i := range n {
		schema[fmt.Sprintf("s.t%d", i)] = []string{"u"}
	}
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			name := fmt.Sprintf("s.t%d", i)
			if err := c.Protect(schema, name, "u", "person"); err != nil {
				t.Error(err)
			}
			if c.Snapshot().Table(name).State != Protected {
				t.Errorf("%s is not protected after the call returned", name)
			}
		})
	}
	wg.Wait()
	if len(c.Snapshot().All()) != n || c.Snapshot().revision != n {
		t.Errorf("got %v", dump(c.Snapshot()))
	}
	reopened(t, c)
}

// busySchema has another table protected while the catalogue asks for the type of a column.
type busySchema struct {
	fakeSchema
	meanwhile func()
}

func (*busySchema) Collation(table, _ string) string {
	return map[string]string{"shop.customers": "utf8mb4_0900_ai_ci", "shop.regions": "utf8mb4_0900_ai_ci"}[table]
}

func (s *busySchema) ColumnType(table, _ string) string {
	if f := s.meanwhile; f != nil {
		s.meanwhile = nil
		f()
	}
	return map[string]string{"shop.customers": "INTEGER"}[table]
}

// TestTypesAreAskedUnlocked: others may change the catalogue while a mutation asks the store for
// types, and it heeds what they change.
func TestTypesAreAskedUnlocked(t *testing.T) {
	c, _ := open(t)
	s := &busySchema{fakeSchema: shop}
	if err := c.Protect(s, "shop.customers", "id", "person"); err != nil {
		t.Fatal(err)
	}
	var inner error
	s.meanwhile = func() { inner = c.Protect(s, "shop.regions", "name", "person") }
	err := c.Protect(s, "shop.odd", "x", "person")
	if r, ok := refuse.As(err); inner != nil || !ok || r.Code != refuse.Policy {
		t.Errorf("got %v and %v, want a refusal of the collation alone", inner, err)
	}
}

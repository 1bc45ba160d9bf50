package clients

import (
	"fmt"
	"strings"
)

// The data set: shop.people, protected, one row a person; shop.products, public; shop.dear, a view.
const (
	database = "shop"
	persons  = 4000
	products = 1000

	// Title of product titled, with characters of one to four bytes.
	title  = "Zoë — 日本 😀"
	titled = 7
)

var (
	departments = []string{"care", "law", "sales", "tech"}
	givenNames  = []string{"Zoë", "Łukasz", "José", "李小龍", "Ærø", "Ann", "Мария", "Şule"}
)

// tables are what a client lists at least; some list views beside them.
var (
	tables = []string{"people", "products"}
	views  = []string{"dear"}
)

// columns of shop.people with a word that every type's name, however a client spells it, is one of.
var columns = []struct{ name, declared string }{
	{"id", "BIGINT NOT NULL PRIMARY KEY"},
	{"name", "VARCHAR(40)"},
	{"dept", "VARCHAR(20)"},
	{"age", "INT"},
	{"amount", "DECIMAL(10,2)"},
	{"joined", "DATE"},
}

// cents is what person i has spent, between 10 and 90: departments differ in their means.
func cents(i int) int { return 1000 + (i*7919)%5000 + 1000*(i%len(departments)) + i%7 }

// price of a product. The first three do not survive a client that takes doubles for whole numbers.
func price(id int) float64 {
	switch id {
	case 1:
		return 51.006729
	case 2:
		return 0.1
	case 3:
		return 1234567.891
	}
	return float64(id*1731)/100 + 0.25
}

// group is the truth about one department.
type group struct {
	dept    string
	average float64
	count   int
}

// groups returns the true answer of SELECT dept, AVG(amount), COUNT(*) … GROUP BY dept ORDER BY
// dept.
func groups() []group {
	sums, counts := make([]int, len(departments)), make([]int, len(departments))
	for i := range persons {
		sums[i%len(departments)] += cents(i)
		counts[i%len(departments)]++
	}
	out := make([]group, len(departments))
	for d, name := range departments {
		out[d] = group{name, float64(sums[d]) / 100 / float64(counts[d]), counts[d]}
	}
	return out
}

// schema are the statements that make the data set, and its accounts and policies. Budgets are
// large: clients may ask as often as they like, in any wording. The password is quoted for SQL.
func schema(password string) []string {
	var declared []string
	for _, c := range columns {
		declared = append(declared, c.name+" "+c.declared)
	}
	out := []string{
		"CREATE DATABASE " + database,
		"CREATE TABLE shop.people (" + strings.Join(declared, ", ") + ")",
		"CREATE TABLE shop.products (id INT NOT NULL PRIMARY KEY, title VARCHAR(60), price DOUBLE, made DATETIME)",
	}
	out = append(out, inserts("shop.people", persons, person)...)
	out = append(out, inserts("shop.products", products, product)...)
	return append(out,
		"CREATE VIEW shop.dear AS SELECT id, title, price FROM shop.products WHERE price > 10000",
		"CALL dp_public('shop.products')",
		"CALL dp_protect('shop.people', 'id', 'person')",
		`CALL dp_set_domain('shop.people', 'dept', '["`+strings.Join(departments, `","`)+`"]')`,
		`CALL dp_set_domain('shop.people', 'age', '{"min":0,"max":120}')`,
		`CALL dp_set_domain('shop.people', 'amount', '{"min":0,"max":100}')`,
		`CALL dp_set_defaults('shop.people', '{"dp_epsilon": 10}')`,
		"CALL dp_set_budget('shop.people', '*', 100000, 1e-6, 'never')",
		"CALL dp_set_budget('shop.people', 'default', 100000, 1e-6, 'never')",
		fmt.Sprintf("CREATE USER '%s'@'%%' IDENTIFIED BY '%s'", analyst, password),
		fmt.Sprintf("CREATE USER '%s'@'%%' IDENTIFIED WITH caching_sha2_password BY '%s'", newer, password),
		fmt.Sprintf("GRANT SELECT ON %s.* TO '%s'@'%%'", database, analyst),
		fmt.Sprintf("GRANT SELECT ON %s.* TO '%s'@'%%'", database, newer),
	)
}

func person(i int) string {
	return fmt.Sprintf("(%d,'%s %d','%s',%d,%d.%02d,'20%02d-%02d-%02d')", i+1, givenNames[i%len(givenNames)], i,
		departments[i%len(departments)], 18+i%60, cents(i)/100, cents(i)%100, 10+i%15, 1+i%12, 1+i%28)
}

func product(i int) string {
	id := i + 1
	t := fmt.Sprintf("product %d", id)
	if id == titled {
		t = title
	}
	return fmt.Sprintf("(%d,'%s',%v,'2025-%02d-%02d %02d:30:00')", id, t, price(id), 1+i%12, 1+i%28, i%24)
}

// inserts returns statements of up to 500 rows each.
func inserts(table string, n int, row func(int) string) []string {
	var out []string
	for from := 0; from < n; from += 500 {
		var rows []string
		for i := from; i < min(from+500, n); i++ {
			rows = append(rows, row(i))
		}
		out = append(out, "INSERT INTO "+table+" VALUES "+strings.Join(rows, ","))
	}
	return out
}

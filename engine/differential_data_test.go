package engine

import (
	"fmt"
	"math/big"
	"strings"
	"sync"

	"scrim/engine/estimator/noise"
)

// shopTables are the tables of the differential test. Text compares by code point, as the server's
// does.
var shopTables = []string{
	"CREATE TABLE customers (id INT PRIMARY KEY, name VARCHAR(40), region VARCHAR(10), segment VARCHAR(12), city VARCHAR(12), age INT, joined DATE, balance DECIMAL(10,2))",
	"CREATE TABLE orders (id INT PRIMARY KEY, customer_id INT, product_id INT, status VARCHAR(10), channel VARCHAR(10), qty INT, amount DECIMAL(10,2), discount DOUBLE, placed DATETIME, shipped DATE)",
	"CREATE TABLE products (id INT PRIMARY KEY, title VARCHAR(40), category VARCHAR(12), price DECIMAL(8,2))",
	"CREATE TABLE regions (name VARCHAR(10) PRIMARY KEY, country VARCHAR(12), manager VARCHAR(20))",
}

// moments are when orders were placed: both sides of years, quarters, months, weeks that begin on
// Sunday and on Monday, days, hours and minutes.
var moments = []string{
	"2023-12-31 23:59:59", "2024-01-01 00:00:00", "2024-01-07 09:15:30", "2024-01-08 09:15:31", "2024-02-29 12:00:00", "2024-03-31 18:45:10", "2024-04-01 06:30:00",
	"2024-06-30 23:00:00", "2024-07-01 00:30:05", "2024-09-15 14:14:14", "2024-12-29 08:05:00", "2024-12-30 08:06:00", "2025-01-05 22:22:22", "2025-02-01 10:00:00",
}

// shopDeclarations declare the protected half: public keys for whatever is grouped by, bounds wider
// than the data, and a budget that no statement of the test exhausts.
func shopDeclarations() []string {
	quoted := func(xs []string) string { return `["` + strings.Join(xs, `","`) + `"]` }
	return []string{
		"CALL dp_public('shop.products')", "CALL dp_public('shop.regions')",
		"CALL dp_protect('shop.customers', 'id', 'customer')",
		"CALL dp_protect('shop.orders', 'customer_id', 'customer')",
		`CALL dp_set_domain('shop.customers', 'region', '["north","south","east","west"]')`,
		`CALL dp_set_domain('shop.customers', 'segment', '["Consumer","Corporate","Home Office"]')`,
		`CALL dp_set_domain('shop.customers', 'age', '{"min":18,"max":79}')`,
		`CALL dp_set_domain('shop.customers', 'balance', '{"min":-4096,"max":4096}')`,
		`CALL dp_set_domain('shop.customers', 'joined', '` + quoted(joinedDates()) + `')`,
		`CALL dp_set_domain('shop.orders', 'status', '["open","paid","shipped","returned"]')`,
		`CALL dp_set_domain('shop.orders', 'channel', '["web","store","phone",null]')`,
		`CALL dp_set_domain('shop.orders', 'qty', '{"min":1,"max":12}')`,
		`CALL dp_set_domain('shop.orders', 'amount', '{"min":0,"max":4096}')`,
		`CALL dp_set_domain('shop.orders', 'discount', '{"min":0,"max":1}')`,
		`CALL dp_set_domain('shop.orders', 'product_id', '{"table":"shop.products","column":"id"}')`,
		`CALL dp_set_domain('shop.orders', 'placed', '` + quoted(moments) + `')`,
		"CALL dp_set_budget('shop.customers', '*', 'rho=1000000', 1e-3, 'never')", "CALL dp_set_budget('shop.customers', 'default', 'rho=1000000', 1e-3, 'never')",
		"CALL dp_set_budget('shop.orders', '*', 'rho=1000000', 1e-3, 'never')", "CALL dp_set_budget('shop.orders', 'default', 'rho=1000000', 1e-3, 'never')",
	}
}

func joinedDates() []string {
	var out []string
	for m := 1; m <= 12; m++ {
		out = append(out, fmt.Sprintf("2022-%02d-15", m))
	}
	return out
}

// shopRows fills the tables: 240 customers and 1680 orders of them, one to thirteen each, with
// NULLs, non-ASCII text and negative numbers.
func shopRows() []string {
	pick := func(i int, xs ...string) string { return xs[i%len(xs)] }
	var customers, orders, products []string
	joined := joinedDates()
	for i := 1; i <= 12; i++ {
		products = append(products, fmt.Sprintf("(%d, '%s %d', '%s', %d.%02d)", i, pick(i, "Stuhl", "Tisch", "Lampe – groß", "Zoë – 日本 😀"), i, pick(i/2, "Furniture", "Office", "Technology"), 5+i*i, i*7%100))
	}
	id := 0
	for c := 1; c <= 240; c++ {
		balance := fmt.Sprintf("%d.%02d", c*37%900-200, c*13%100)
		if c%10 == 0 {
			balance = "NULL"
		}
		customers = append(customers, fmt.Sprintf("(%d, '%s %d', '%s', '%s', '%s', %d, '%s', %s)", c, pick(c, "Ann", "Bjørn", "Zoë", "Даша"), c,
			pick(c/3, "north", "south", "east", "west"), pick(c, "Consumer", "Corporate", "Home Office"), pick(c/5, "Oslo", "Bergen", "Ålesund"), 18+c*7%60, pick(c*5, joined...), balance))
		for k := 0; k < 1+c%13; k++ {
			id++
			channel, discount, shipped := "'"+pick(id/2, "web", "store", "phone")+"'", fmt.Sprintf("%d.%d", 0, id%8*125), "NULL"
			if id%11 == 0 {
				channel = "NULL"
			}
			if id%9 == 0 {
				discount = "NULL"
			}
			if id%4 != 0 {
				shipped = fmt.Sprintf("'2025-03-%02d'", 1+id%5)
			}
			orders = append(orders, fmt.Sprintf("(%d, %d, %d, '%s', %s, %d, %d.%02d, %s, '%s', %s)", id, c, 1+id*5%12, pick(id*3+c, "open", "paid", "shipped", "returned"), channel,
				1+id*7%10, id*31%997, id*17%100, discount, pick(id*9+k, moments...), shipped))
		}
	}
	return []string{
		"INSERT INTO products VALUES " + strings.Join(products, ", "), "INSERT INTO regions VALUES ('north','Norway','Kari'), ('south','Spain','José'), ('east','Poland','Łukasz'), ('west','Ireland',NULL)",
		"INSERT INTO customers VALUES " + strings.Join(customers, ", "), "INSERT INTO orders VALUES " + strings.Join(orders, ", "),
	}
}

// silent is a source without noise. Its bits still differ from one call to the next: secret choices
// need them.
type silent struct {
	mu sync.Mutex
	x  uint64
}

func silence() noise.Noiser { return &silent{x: 1} }

func (s *silent) Gaussian(v, _ *big.Int) *big.Int             { return new(big.Int).Set(v) }
func (s *silent) GaussianInt(v int64, _ noise.Variance) int64 { return v }
func (s *silent) Laplace(v, _, _ *big.Int) *big.Int           { return new(big.Int).Set(v) }
func (s *silent) Uniform() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.x = s.x*6364136223846793005 + 1442695040888963407
	return s.x ^ s.x>>29
}

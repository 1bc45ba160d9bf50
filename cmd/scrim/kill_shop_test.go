package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// serveShop serves a new directory with 600 protected orders of 300 customers: id and who, and what
// columns and more say of each; ann reads what is public.
func serveShop(t *testing.T, columns string, more func(k int) string) (p *process, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "data")
	p = serveFor(t, dir)
	var rows []string
	for k := range 600 {
		rows = append(rows, fmt.Sprintf("(%d, %d, %s)", k, k/2, more(k)))
	}
	p.root(t).must(t,
		"CREATE DATABASE shop",
		"CREATE TABLE shop.orders (id INT PRIMARY KEY, who INT NOT NULL, "+columns+")",
		"INSERT INTO shop.orders VALUES "+strings.Join(rows, ","),
		"CALL dp_protect('shop.orders', 'who', 'customer')",
		"CALL dp_set_budget('shop.orders', '*', 1000, 1e-6, 'never')",
		"CREATE USER 'ann'@'%' IDENTIFIED BY 'ann-pw'",
		"GRANT SELECT ON shop.* TO 'ann'@'%'",
	)
	return p, dir
}

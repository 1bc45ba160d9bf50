package private

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"scrim/bench/internal/served"
	"scrim/test/testenv/tpch"
)

// Setup says whose rows are protected.
type Setup struct {
	Name      string
	Protected []string // tables
	Policies  []string // statements that protect them
}

// Customers are protected with their orders and lines; parts and suppliers are public.
var Customers = Setup{"customers", []string{"customer", "orders", "lineitem"}, []string{
	"CALL dp_protect('tpch.customer', 'c_custkey', 'customer')",
	"CALL dp_protect('tpch.orders', 'o_custkey', 'customer')",
	"CALL dp_link('tpch.lineitem', 'l_orderkey', 'tpch.orders', 'o_orderkey')",
}}

// Both protects customers and suppliers, of whom nobody is one of the other: a line belongs to the
// customer of its order and to its supplier, a part's offer to its supplier. Parts are public.
var Both = Setup{"both", []string{"customer", "orders", "supplier", "partsupp", "lineitem"}, []string{
	"CALL dp_protect('tpch.customer', 'c_custkey', 'customer')",
	"CALL dp_protect('tpch.orders', 'o_custkey', 'customer')",
	"CALL dp_protect('tpch.supplier', 's_suppkey', 'supplier')",
	"CALL dp_protect('tpch.partsupp', 'ps_suppkey', 'supplier')",
	"CALL dp_set_disjoint('customer', 'supplier')",
	"CALL dp_link('tpch.lineitem', 'l_orderkey', 'tpch.orders', 'o_orderkey')",
	"CALL dp_protect('tpch.lineitem', 'l_suppkey', 'supplier')",
}}

// Setups are all of them.
func Setups() []Setup { return []Setup{Customers, Both} }

// statements are all of a set-up: what is not protected is public, and budgets have no end.
func (s Setup) statements() []string {
	protected := map[string]bool{}
	for _, t := range s.Protected {
		protected[t] = true
	}
	var list []string
	for _, t := range tpch.Tables() {
		if !protected[t.Name] {
			list = append(list, fmt.Sprintf("CALL dp_public('tpch.%s')", t.Name))
		}
	}
	list = append(list, s.Policies...)
	for _, t := range s.Protected {
		list = append(list, fmt.Sprintf("CALL dp_set_budget('tpch.%s', '*', 'rho=1000000', 0.9, 'never')", t))
	}
	return list
}

// loaded is the file that says that all tables are in a directory, with the scale factor and seed.
const loaded = "LOADED"

// load brings the tables at a scale factor into a directory, unless they are there. The table turns
// is there to be written to: the store then gives no result again.
func load(ctx context.Context, dir string, o Options) error {
	mark, want := filepath.Join(dir, loaded), fmt.Sprintf("scale factor %g, seed %d", o.Scale, o.Seed)
	switch have, err := os.ReadFile(mark); {
	case err == nil && string(have) == want:
		return nil
	case err == nil:
		return fmt.Errorf("private: %s has tables of %s, not of %s", dir, have, want)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	list := []string{"CREATE DATABASE tpch", "CREATE TABLE tpch.turns (n INT)"}
	for _, t := range tpch.Tables() {
		list = append(list, "CREATE TABLE tpch."+t.Name+" ("+t.Columns+")")
	}
	s := served.New(dir)
	if err := s.Declare(ctx, list); err != nil {
		return err
	}
	if err := tpch.Write(ctx, dir, tpch.Options{Scale: o.Scale, Seed: o.Seed}); err != nil {
		return err
	}
	for _, t := range tpch.Tables() {
		file := tpch.FileOf(dir, t.Name)
		if err := errors.Join(s.Load(ctx, file, "tpch."+t.Name), os.Remove(file)); err != nil {
			return err
		}
	}
	return os.WriteFile(mark, []byte(want), 0o644)
}

// start serves a copy of the loaded tables, protected by the set-up.
func start(ctx context.Context, tables, dir string, o Options) (*served.Server, error) {
	if err := copied(dir, tables); err != nil {
		return nil, err
	}
	s := served.New(dir)
	if err := s.Start(); err != nil {
		return nil, err
	}
	if err := s.Execute(ctx, append([]string{"CALL dp_public('tpch.turns')"}, o.Setup.statements()...)); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// copied copies a directory. Nobody else may read the copy, as the server's keys want it.
func copied(to, from string) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	return filepath.WalkDir(to, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chmod(name, 0o600)
	})
}

// within loads the tables, and hands on where they are and a directory beside them; both are
// removed, but for tables that are kept.
func within(ctx context.Context, o Options, do func(tables, dir string) error) error {
	dir, err := os.MkdirTemp("", "scrim-tpch-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	tables := o.Keep
	if tables == "" {
		tables = filepath.Join(dir, "tables")
	}
	if err := os.MkdirAll(tables, 0o755); err != nil {
		return err
	}
	if err := load(ctx, tables, o); err != nil {
		return err
	}
	return do(tables, dir)
}

package everyday

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"scrim/bench/internal/served"
	"scrim/engine/estimator"
)

// database is the one whose tables have a relation.
func database(r estimator.Relation) string {
	if r == estimator.ReplaceOne {
		return "replace_one"
	}
	return "add_remove"
}

// start loads tables into a new directory under dir, in a database for each relation, and serves
// it.
func start(ctx context.Context, dir, data string, tables []*Table, asked []estimator.Relation) (*served.Server, error) {
	s := served.New(dir)
	if err := s.Declare(ctx, definitions(tables, asked)); err != nil {
		return nil, err
	}
	for _, t := range tables {
		file := filepath.Join(dir, t.Name+".csv")
		if err := writeTo(file, data, t); err != nil {
			return nil, fmt.Errorf("everyday: table %s: %w", t.Name, err)
		}
		for _, r := range asked {
			if err := s.Load(ctx, file, database(r)+"."+t.Name); err != nil {
				return nil, err
			}
		}
		if err := os.Remove(file); err != nil {
			return nil, err
		}
	}
	if err := s.Start(); err != nil {
		return nil, err
	}
	if err := s.Execute(ctx, policies(tables, asked)); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

func writeTo(file, data string, t *Table) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(t.write(data, f), f.Close())
}

// definitions make the tables.
func definitions(tables []*Table, asked []estimator.Relation) []string {
	var list []string
	for _, r := range asked {
		list = append(list, "CREATE DATABASE "+database(r)+" COLLATE utf8mb4_0900_bin") // keys are shown as they are spelled
		for _, t := range tables {
			list = append(list, "CREATE TABLE "+database(r)+"."+t.Name+" ("+t.Columns+")")
		}
	}
	return list
}

// policies declare persons, keys and budgets. Budgets are without end: the bench is about answers.
func policies(tables []*Table, asked []estimator.Relation) []string {
	var list []string
	for _, r := range asked {
		db := database(r)
		list = append(list, "USE "+db)
		for _, t := range slices.Backward(tables) { // public ones come last, and domains name them
			if t.Unit == "" {
				list = append(list, fmt.Sprintf("CALL dp_public('%s.%s')", db, t.Name))
			}
		}
		for _, t := range tables {
			if t.Unit == "" {
				continue
			}
			name := db + "." + t.Name
			list = append(list, fmt.Sprintf("CALL dp_protect('%s', '%s', '%s_%s')", name, t.Unit, db, t.Name),
				fmt.Sprintf("CALL dp_set_neighbours('%s', '%v')", name, r),
				fmt.Sprintf("CALL dp_set_budget('%s', '*', 'rho=100000', 0.9, 'never')", name))
			if t.Defaults != "" {
				list = append(list, fmt.Sprintf("CALL dp_set_defaults('%s', '%s')", name, t.Defaults))
			}
			for _, d := range t.Domains {
				list = append(list, fmt.Sprintf("CALL dp_set_domain('%s', '%s', '%s')", name, d[0], d[1]))
			}
		}
	}
	return list
}

package lake

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Column is a column that stands in the names of directories: day=2025-06-01.
type Column struct {
	Name string `json:"name"`
	Type string `json:"type"` // BIGINT, DATE or VARCHAR
}

// hiveNull is the value of a directory that stands for NULL.
const hiveNull = "__HIVE_DEFAULT_PARTITION__"

var (
	hiveName  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	hiveWhole = regexp.MustCompile(`^-?[0-9]{1,18}$`)
)

// Partitions are the columns in the names of the files' directories, with types that all values
// have.
func (p *Pin) Partitions() ([]Column, error) {
	var columns []Column
	for i, f := range p.Files {
		parts := p.parts(f)
		if i == 0 {
			for _, part := range parts {
				columns = append(columns, Column{part[0], "BIGINT"})
			}
		}
		if err := p.named(f, parts, columns); err != nil {
			return nil, err
		}
		for j, part := range parts {
			for !fits(columns[j].Type, part[1]) {
				columns[j].Type = map[string]string{"BIGINT": "DATE", "DATE": "VARCHAR"}[columns[j].Type]
			}
		}
	}
	return p.mixed(columns)
}

// mixed makes a text of a column whose values have no common type: a whole number may have come
// before a date.
func (p *Pin) mixed(columns []Column) ([]Column, error) {
	for j := range columns {
		for _, f := range p.Files {
			if !fits(columns[j].Type, p.parts(f)[j][1]) {
				columns[j].Type = "VARCHAR"
			}
		}
	}
	return columns, nil
}

// Partitioned fails where a file's directories do not have the columns, with values of their types.
func (p *Pin) Partitioned(columns []Column) error {
	for _, f := range p.Files {
		parts := p.parts(f)
		if err := p.named(f, parts, columns); err != nil {
			return err
		}
		for j, part := range parts {
			if !fits(columns[j].Type, part[1]) {
				return fmt.Errorf("lake: %s: %s is no %s", f.Path, part[0], columns[j].Type)
			}
		}
	}
	return nil
}

func (p *Pin) named(f File, parts [][2]string, columns []Column) error {
	ok := len(parts) == len(columns)
	for j := 0; ok && j < len(parts); j++ {
		ok = parts[j][0] == columns[j].Name && hiveName.MatchString(parts[j][0]) && !strings.Contains(parts[j][1], "=")
	}
	if !ok {
		return fmt.Errorf("lake: the directories of %s do not name the same columns as others", f.Path)
	}
	return nil
}

// parts are the names and values in the directories of a file.
func (p *Pin) parts(f File) (out [][2]string) {
	segments := strings.Split(strings.TrimPrefix(f.Path, p.pattern.Root+"/"), "/")
	for _, s := range segments[:len(segments)-1] {
		if name, value, ok := strings.Cut(s, "="); ok {
			out = append(out, [2]string{name, value})
		}
	}
	return out
}

func fits(typ, value string) bool {
	switch {
	case value == hiveNull || typ == "VARCHAR":
		return true
	case typ == "BIGINT":
		return hiveWhole.MatchString(value)
	}
	_, err := time.Parse("2006-01-02", value)
	return err == nil
}

package duckdb

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"scrim/engine/lake"
)

// footer is what a file's footer says of its columns.
type footer struct {
	fields []lake.Field // those that are not within others; ID is 0 where they have no numbers
	texts  []string     // of each, and of what is within it, but for their numbers
	within int          // how many are still to come that are within others
}

// footers returns those of files. Whether a column may be NULL is left aside, and so is the name of
// the whole, which every writer chooses.
func (c *conn) footers(ctx context.Context, paths []string) (map[string]*footer, error) {
	rows, err := c.collect(ctx, `SELECT file_name, "name", "type", duckdb_type, num_children, field_id FROM parquet_schema(`+listText(paths)+`)`)
	if err != nil {
		return nil, err
	}
	out := map[string]*footer{}
	for _, r := range rows {
		file := r[0].(string)
		f := out[file]
		if f == nil { // the first row is the whole
			out[file] = &footer{}
			continue
		}
		text := fmt.Sprintf("%q %v %v %v\n", r[1:5]...)
		children, _ := r[4].(int64)
		if f.within == 0 {
			id, _ := r[5].(int64)
			f.fields, f.texts = append(f.fields, lake.Field{ID: id, Name: r[1].(string)}), append(f.texts, text)
			f.within = int(children)
		} else {
			f.texts[len(f.texts)-1] += text
			f.within += int(children) - 1
		}
	}
	return out, nil
}

// fits digests a footer. It fails where the file does not have exactly the columns, in their order,
// that the table's metadata say it has: under a number a file keeps a name that the table had when
// it was written.
func (a *attached) fits(f *footer) (digest string, err error) {
	if f == nil {
		return "", fmt.Errorf("a file has no columns")
	}
	last := len(f.fields)
	for last > 0 && a.own(f.fields[last-1].Name) {
		last--
	}
	if a.Kind != lake.Parquet && !slices.Equal(f.fields[:last], a.Fields) {
		return "", fmt.Errorf("a file does not have the columns that the table has now, by name and number, in their order: %v and %v", names(f.fields[:last]), names(a.Fields))
	}
	sum := sha256.Sum256([]byte(strings.Join(f.texts[:last], "")))
	return hex.EncodeToString(sum[:]), nil
}

// own reports whether a column is one that the format adds to files for itself: DuckLake tells in
// rewritten ones where a row was before, and of which snapshot it is.
func (a *attached) own(column string) bool {
	return a.Kind == lake.DuckLake && strings.HasPrefix(column, "_ducklake_internal_")
}

// names lists columns with their numbers.
func names(fields []lake.Field) string {
	list := make([]string, len(fields))
	for i, f := range fields {
		list[i] = fmt.Sprintf("%s %d", f.Name, f.ID)
	}
	return "(" + strings.Join(list, ", ") + ")"
}

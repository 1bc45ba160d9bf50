package upload

import (
	"context"
	"encoding/json"

	"scrim/engine/datadir/fileimport"
	"scrim/engine/store"
)

// announced is the argument of dp_next_load.
type announced struct {
	Files   []announcedFile `json:"files"`
	Replace bool            `json:"replace"`
	Again   bool            `json:"again"`
}

type announcedFile struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// announce tells the server which files the next load is of. A new table has none of an earlier
// one's of its name.
func (l *load) announce(ctx context.Context, files []store.ImportedFile) error {
	a := announced{Replace: l.o.Mode == fileimport.Replace || l.made, Again: l.o.Again}
	for _, f := range files {
		a.Files = append(a.Files, announcedFile{Name: f.Name, SHA256: f.SHA256})
	}
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	_, err = l.conn.ExecContext(ctx, "CALL dp_next_load(?, ?)", l.schema+"."+l.table, string(text))
	return err
}

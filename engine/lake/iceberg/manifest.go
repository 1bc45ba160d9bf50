package iceberg

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/hamba/avro/v2/ocf"

	"scrim/engine/lake"
)

var encrypted = &lake.Unfit{Cause: "it is encrypted", Remedy: "Write a copy that is not."}

// What an entry of a manifest says of its file.
const statusDeleted = 2

// What the files of a manifest, or one of them, hold; version 1 has rows only.
const contentRows = 0

// read adds the files of a snapshot.
func (t *table) read(s snapshot, out *lake.Listing) error {
	manifests := s.Listed
	if s.Manifests != "" {
		err := t.records(s.Manifests, func(r map[string]any) error {
			path, ok := r["manifest_path"].(string)
			if !ok {
				return fmt.Errorf("a manifest without a path")
			}
			if r["key_metadata"] != nil {
				return encrypted
			}
			manifests = append(manifests, path)
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, m := range manifests {
		if err := t.records(m, func(r map[string]any) error { return t.entry(r, out) }); err != nil {
			return err
		}
	}
	return nil
}

// entry adds the file of one entry of a manifest, unless it is gone.
func (t *table) entry(r map[string]any, out *lake.Listing) error {
	status, ok := r["status"].(int)
	file, whole := r["data_file"].(map[string]any)
	if !ok || !whole {
		return fmt.Errorf("an entry without a status or a file")
	}
	if status == statusDeleted {
		return nil
	}
	if content, there := file["content"]; there && content != contentRows {
		return &lake.Unfit{Cause: "rows of it are deleted by files of deletes, which are not applied here", Remedy: "Compact the table, for example by rewrite_data_files of Spark with delete-file-threshold 1, and let the writer delete by copy-on-write."}
	}
	path, ok1 := file["file_path"].(string)
	format, ok2 := file["file_format"].(string)
	size, ok3 := file["file_size_in_bytes"].(int64)
	if !ok1 || !ok2 || !ok3 {
		return fmt.Errorf("a file without a path, a format or a size")
	}
	if !strings.EqualFold(format, "PARQUET") {
		return &lake.Unfit{Cause: "it has files of " + strings.ToUpper(format), Remedy: "Write Parquet (write.format.default)."}
	}
	if file["key_metadata"] != nil {
		return encrypted
	}
	below, err := t.local(path)
	if err != nil {
		return err
	}
	out.Data = append(out.Data, lake.Data{Path: filepath.Join(t.dir, below), Size: size})
	return nil
}

// records hands over the records of an Avro file of the table.
func (t *table) records(name string, each func(map[string]any) error) error {
	below, err := t.local(name)
	if err != nil {
		return err
	}
	f, err := t.root.Open(below)
	if err != nil {
		return fmt.Errorf("iceberg: %w", err)
	}
	defer f.Close()
	dec, err := ocf.NewDecoder(f)
	for err == nil && dec.HasNext() {
		var r map[string]any
		if err = dec.Decode(&r); err == nil {
			err = each(r)
		}
	}
	if err == nil && dec.Error() != nil && dec.Error() != io.EOF {
		err = dec.Error()
	}
	if unfit, ok := err.(*lake.Unfit); ok {
		return unfit
	}
	if err != nil {
		return fmt.Errorf("iceberg: %s: %w", filepath.Join(t.dir, below), err)
	}
	return nil
}

// Package formats lists the files of attached tables, whatever their kind: those that a pattern
// names, and those that the metadata of Iceberg or the catalogue of a DuckLake list. It opens
// catalogues: files of DuckDB and SQLite below the declared roots, to be read only, and databases
// of declared servers.
//
//	lake.From ─▶ First ─▶ lake.Attachment, which is kept ─▶ Again, for every statement ─▶ lake.Pin
//
// A catalogue is opened for each listing and closed with it.
package formats

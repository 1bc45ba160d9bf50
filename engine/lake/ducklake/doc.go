// Package ducklake reads which files the rows of a table of the format DuckLake are in, from the
// lake's catalogue, which is a database of another kind: DuckDB, SQLite, PostgreSQL, or MySQL.
//
//	catalogue ─▶ ducklake_metadata ─▶ _schema ─▶ _table ─▶ _column, _data_file ─▶ lake.Listing
//
// Refused by name is what would make the rows other than all rows of those files: files of deletes,
// rows and deletes that the catalogue keeps itself, files without numbers of columns, encryption,
// versions of the format that are not known.
//
// Source: the DuckLake specification (ducklake.select/docs), "Tables" and "Queries", of version
// 0.3, and for deletes in the catalogue of version 1.0.
package ducklake

// Package iceberg reads which files the rows of a table of the format Apache Iceberg are in, from
// its metadata in a directory (versions 1 and 2 of the format).
//
//	metadata/version-hint.text ─▶ metadata/v7.metadata.json ─▶ manifest list ─▶ manifests ─▶ files
//
// Refused by name is what would make the rows other than all rows of those files: deletes, files
// that are not Parquet, encryption, versions of the format that are not known.
//
// Source: the Iceberg table specification (iceberg.apache.org/spec), sections "Table Metadata",
// "Manifest Lists", "Manifests" and "Scan Planning".
package iceberg

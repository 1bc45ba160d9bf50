// Package lake says which files of others a table is read from, in place. It knows names and
// sizes of files, and nothing of what is in them: the store reads them.
//
//	Roots ──▶ Pattern   which files: /srv/lake/orders/**/*.parquet, below a declared root
//	             │ Pin
//	             ▼
//	          Pin       the files of one moment: path, size, times, inode; Version, Unchanged
//	             ▲ Listed
//	          Listing   of a table whose metadata list its files (package iceberg)
//
// # Invariants
//
//   - A file is reached from its root through directories only: no symbolic link is followed, and
//     what is neither a directory nor a regular file is refused where the pattern names it.
//   - Two patterns that some path could match both are of one table: its budget is kept under one
//     name (Overlaps).
//   - Unchanged looks at every file of the list, whichever of them were read, so that what it
//     tells does not follow from rows.
package lake

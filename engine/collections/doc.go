// Package collections keeps collections on the server: what a DBA declared, the rounds and their
// public parameters, one-time tokens, the reports and batches that came in, and the results. It
// knows no SQL of clients and no wire: package engine puts both on top.
//
//	DRAFT ─Open─▶ OPEN(1) ─Close─▶ BETWEEN(1) ─Next─▶ OPEN(2) … ─Next─▶ FINAL
//	                 ▲───Open──────────┘ │
//	                 └───Open───── FAILED ◀ Next, where the round is inconclusive       any ─Abort─▶ ABORTED
//
// # Where things lie
//
// All of it is in the one store, and every change is one transaction of it:
//
//	entries of the store (store.Meta)
//	  collection         uuid                          record: declaration, state, round, owner
//	  collection_round   uuid, round, stratum          canonical parameters, days of opening and closing
//	  collection_key     uuid, round, stratum          private opening key (shuffle)
//	  collection_issued  uuid                          tokens issued, by round, stratum and cell
//	  collection_batch   uuid, number                  batches that were loaded (shuffle)
//	  collection_result  uuid, stratum                 results at FINAL
//	  collection_simulation  uuid, number              the latest simulations (simulations.go)
//	tables of the server's own (store.Own), ID being the uuid without hyphens
//	  token_ID (hash, round, stratum, cell)            SHA-256 of tokens, sorted by it
//	  spent_ID (hash, report)                          of tokens that reported; SHA-256(token | report)
//	  bag_ID   (…)                                     parts of a bag whose other parts are to come (shuffle)
//	the collection's own table, which clients may read and nobody may write
//	  local    (round, cell, stratum, day, report)     reports with their headers, as they were sent
//	  shuffle  (batch_id, round, stratum, msg)         opened messages of 16 bytes
//
// # Privacy
//
// Nothing here is a release: reports are private when they arrive. What the package sees to is that
// nobody reports twice, and that it does not become known who sent what:
//
//   - A token is kept as its hash, a report as it is; no row has both, nor a time finer than a day.
//     Rows of one flush are in random order. A table of spent tokens is sorted by hash again and
//     again (load.go), and so are a round's reports when it closes: what order of arrival lies in
//     the tables meanwhile reaches back to the last sorting only, and is read by who reads the
//     files.
//   - The opened messages of a batch are sorted by their bytes.
//   - Opening keys are in no table that a client's SQL reaches. They are deleted as soon as the
//     round's batches are loaded and no others can come. The store does not overwrite what it
//     deletes, and a backup that was made before holds them.
//
// # At most once
//
// A token is FREE or has a row in spent_ID. Its report and that row are written by one transaction,
// by the one goroutine that writes reports (flush.go); an acknowledgement follows the commit. So
// after a crash at any moment: a token has no report or one, and one that was acknowledged is
// there. A retry with the same bytes is told apart from another report by SHA-256(token | report).
//
// # After a crash
//
// Memory holds nothing that is not in the store. Open reads it again: a collection is in the state
// that its last committed transition left. Next is two transitions; between them the collection is
// BETWEEN, from where Next or Open go on. Parts of a bag that were committed stay until the others
// come.
package collections

// Package accounting keeps the privacy account: the durable ledger in which every charge is written
// before the first protected row is read, and what it has added up to. What a charge is, a loss
// with its events, is package privacy; what a budget is and when it grants one, package budget.
// Where a unit is one person's rows of one period, a charge is for a stretch of days
// (days.Span), and it has to fit beside what is spent on each of them.
//
// # Charges
//
// [Ledger.Reserve] grants a charge when every budget that it touches takes it beside what is spent
// in its window: package budget has the test, and says what is promised.
//
// # Files
//
// Three files: the ledger, its key (the name with [KeySuffix]) and its mark ([MarkSuffix]), all of
// mode 0600. Beside them a server keeps a checkpoint ([CheckpointSuffix]) and the index up to it
// ([IndexSuffix]), which follow from the ledger, and archives in a directory ([ArchiveSuffix]).
//
// The key is 64 hexadecimal digits, 32 random bytes, made with the ledger and never changed. It is
// refused when others than its owner may read it.
//
// The mark is one line of hexadecimal digits: number u64, time i64 and hash [32] of the last record
// known to be durable, and a keyed hash of these.
//
// The ledger is one bbolt file. All numbers are big-endian; strings are a uvarint length and UTF-8;
// lists a uvarint length and the values.
//
//	bucket        key                              value
//	meta          "format"                         "scrim ledger 3"; with an archive "scrim ledger 4"; with renewals "scrim ledger 5"
//	              "directory"                      Options.DirectoryID
//	              "key-check"                      what only the key gives [32]
//	              "head"                           last record u64, its hash [32], last day u32, its time i64
//	              "base"                           with an archive: what its records come to, see below
//	              "archive"                        in an archive: the name of its file
//	records       number u64 from 1, no gaps       hash [32], payload
//	answers       as given                         see answers.go
//	answer-order  sequence u64                     key of the answer
//
//	payload of a record
//	┌──────┬────────────┬─────────┬───────────┬──────────────────────────────────────────┐
//	│ kind │ unix nanos │ UTC day │ principal │ by kind                                  │
//	│ u8   │ i64        │ u32     │ string    │                                          │
//	└──────┴────────────┴─────────┴───────────┴──────────────────────────────────────────┘
//	1 charge         statement, digest, mechanisms, roles (list of strings, with prefix), list of {account, u8 (1: entity, 2: blocks, 4: a renewal),
//	                 with blocks: first day i32, last day i32, of a renewal: since u32, table, ρ u64, ε u64, δ_event u128, δ_tv u128, events, list of {scope, remaining ε f64 (NaN: in ρ), remaining ρ u64}}
//	2 outcomes       list of {record of the charge u64, outcome u8}
//	3 note           kind, text
//	4 set budget     account, entity u8, principal, reason, ε f64, ρ u64, δ f64, window, the Rényi order f64 where it has one, and 1 where the account is a Gaussian one
//	5 remove budget  account, entity u8, principal, reason
//	6 reset budget   account, entity u8, principal, reason
//	7 replay         statement, digest, record of the charge u64 (0: not known), accounts (list of strings)
//	8 remark         record of the charge u64, text; nobody is its principal
//
//	hash n = HMAC-SHA256(key, hash n−1 ‖ n u64 ‖ payload n);  hash 0 = the same of zeros, 0, and format and directory
//
// ρ and the pure ε (0: none) count units of 2^-40 and δ units of 2^-126, each charge rounded up, so
// sums are exact. Statements come without their literals, which can be values of rows.
//
// The records determine everything but the stored answers: budgets and sums are derived from them.
// The day of a record is never before that of the record before it: a clock that is set back stays
// in the last day that had a record, and a clock set far ahead therefore keeps its windows closed
// until that day has come. So one sum for each kind of window, of the period that holds the last
// day, is all that is needed, whatever window a budget has or gets; which is why changing a limit
// or a window refills nothing. Only a reset ([Ledger.ResetBudget]) does: of one holder's sums, and
// never of what was ever spent.
//
// A charge without blocks is for every block, and its record is as it was before there were any; a
// program of then refuses a ledger with others. An end that stands open is the least i32, or the
// greatest.
//
// A renewal ([Ledger.Renew]) is a charge for a further part of what an earlier one has paid for.
// Since is the day of the one before it. It counts in the windows that began after that day, since
// the one before counts in those that hold it: after it, all windows of its day have the loss. A
// file with a renewal says so in its format: an earlier program takes it for a newer one's.
//
// Ledgers of before remarks have none, and are read, verified and continued like others. A program
// of before remarks refuses a ledger that has one, as it does every kind that it does not know.
//
// If a record does not decode although its keyed hash is right, a newer program wrote it. The
// ledger is then refused with [ErrVersion], not as damaged: the remedy for damage is a backup, and
// a backup forgets what was spent since. The sums that replace archived records are treated alike.
// A change after which an earlier program would misread records must raise the format.
//
// Formats 1 and 2 are refused with [ErrVersion]. Format 2 had no key, so that nobody can vouch for
// what it says; it was never released. Whoever has such a directory goes on with the program that
// wrote it, or imports the rows into a new one, with budgets lower by what that program shows as
// spent.
//
// # Index
//
// In memory, sets of record numbers (roaring bitmaps) by principal, account, table, kind, outcome,
// number of lines and digest, the digests spread over 4096 sets by a fingerprint that is kept for
// each record as well; the first record of each day; and the earliest and latest time of each 256
// records. A [Filter] is answered by intersecting sets from the smallest and reading only what may
// match, which is then tested in full. The index holds durable records only. [Ledger.Count] reads
// no record.
//
// # Opening
//
// Parts of 65536 records are verified, taken apart and added up side by side, and then joined in
// their order, where the hash that a part began with must be the one that the part before ended
// with. A part makes no record of a charge, a replay or outcomes: it keeps each name and each list
// of roles once, adds up what each payer spends, and notes the sets of the index that a record
// belongs to, which are sorted when all is read. Its sums are cut only where spending is reset and
// where one of the windows begins that hold the last day of the ledger; windows that are over count
// no more. That day is what the head says, and is compared with the records when all are read. What
// comes out is what booking one record after the other gives, which a test compares.
//
// # Checkpoints
//
// With Options.Checkpoints an opening reads no more than 65536 records and what came while the last
// checkpoint was written. Both files that it begins with follow from the records:
//
//	checkpoint   "scrim ledger checkpoint 1\n", then a sealed cut
//	cut          record u64, unix nanos i64, hash [32], state (internal/state), HMAC [32]
//	index        "scrim ledger index 1\n", then for each part
//	             hash before it [32], hash of its last record [32], length u32, HMAC [32], segment (internal/index)
//
// Every HMAC is under a key of its own that is derived from the ledger's. That of a checkpoint also
// covers after which record the file begins, how many records make a part, and what the curves of
// some events are in this program; the state has a version. So a checkpoint is used if and only if
// it was made with the ledger's key, by a program that adds up alike, and the ledger has the record
// of the cut with its hash. What comes after it is read and chained from that hash, up to the head,
// and the mark is compared as always: an older checkpoint of the same chain makes an opening read
// more and changes nothing else. In every other case, be it torn, forged, missing, of another chain
// or of another version, all is read.
//
// A checkpoint is made beside the committer, of durable records only: of the checkpoint before it
// and the next parts, read from the file and verified in transactions of 4096 records, with pauses
// of three times the work. First the segments are synced, then the checkpoint is written under
// another name, synced and renamed. A closing ledger waits for at most four parts.
//
// The pages of the records before the checkpoint are not read at the opening, but for those that
// bbolt follows: meta pages, branches, the list of free pages, the other buckets and the last leaf
// of each branch. Each page must be in use once or free, as in a whole walk; what the leaves that
// are not read say of their own length has to account for the rest (internal/boltfile).
//
// When the ledger is open, the segments are read into the index, for which readers of entries wait,
// and charges do not. Then all records from the first are read again, a quarter of a processor at
// most, their hashes verified, and what they come to compared with the checkpoint, and their index
// with the segments, bit by bit. Damage ends the ledger like a failed write, with [ErrUnavailable]
// and [ErrDamaged], and takes the checkpoint away: the next opening reads everything, and refuses
// the file. Until then what was granted rested on sums that were sealed with the key.
// [Ledger.Recheck] verifies the records of an open ledger again.
//
// # Archives
//
// [Archive] moves the first records into a file of their own, which ends with a block of 256. It is
// a file of the same format, that says of itself that it is an archive and is never opened as a
// ledger. "base" in the ledger, and in the next archive, is the cut at which the records before it
// ended, sealed like a checkpoint under another key: budgets, what was spent, and the hash that the
// next record is chained to. Nothing can make it again but the archive, so a program goes on
// decoding the versions of states that are in use. Answers, key and mark stay.
//
// A position in an archived part is compared with the archive, which is opened and verified with
// all that follow it; the base's own is known without. [Ledger.VerifyArchives] reads all of them,
// and compares what they come to with what is sealed.
//
// # Disk
//
// Assumed: a write that was followed by a successful fsync (fdatasync) is read back as written; a
// write of one 512-byte sector happens wholly or not at all; flock and hard links work on the file
// system; nobody else writes the files. Not assumed: any order between writes without a sync
// between them, or anything about unsynced writes after a crash. Without the key, records cannot be
// changed, left out, moved or added but for leaving out the last ones; and that, like an older copy
// of the whole file, the mark tells. They do not stop an operator with access to the disk who takes
// the key as well. An older ledger that is put back together with its mark and key is consistent by
// itself: only who knows that there was more can say so.
//
// # Known elsewhere
//
// So the server writes the ledger's [Position] into other files as well: into the data with every
// commit, into the catalogue with every change and into the audit log with the next record after
// each charge; into all of them, and a witness on another disk where there is one, at start and
// stop. At the start a ledger that does not continue ([Ledger.Continues]) the last position of any
// of them is refused. A position is what a finished sync has made durable. An opening that finds
// records behind the mark flushes the file before it gives one, because a killed process may have
// left its last batch to the system. So no crash, at whatever write, leaves a position that the
// ledger does not reach. Where all of these files are rolled back together, a witness tells;
// without one nothing does.
//
// What a crash leaves, by operation:
//
//   - Create writes the key, then the mark of an empty ledger, then the ledger, each under a
//     temporary name, synced, linked to its name, and the directory synced. Before the last link
//     there is no ledger, and what is there is used when it is made again. A mark with records and
//     no ledger is refused, whatever the options.
//   - Reserve books the charge in memory, where it counts at once, and queues its record; the
//     committer writes all that is queued in one bbolt transaction: pages to unused places, sync,
//     one meta page, sync. Before the meta page is on disk the batch never happened: none of its
//     charges was acknowledged, so no row was read for them. After it the batch stands,
//     acknowledged or not: a crash in between spends without an answer, and never answers without
//     spending.
//   - SetBudget, RemoveBudget, ResetBudget and Note are records like charges: all or nothing.
//   - Finish, Remark, Replayed and PutAnswer queue without waiting and may be lost for a crash
//     within about 50 ms. The charge then shows as unfinished or without its remark, the replay not
//     at all, or the answer is not replayed.
//   - The mark is moved after each batch, in one write within a sector, and synced when the ledger
//     is closed. It is never ahead of what was durable. A killed process leaves it at the last
//     batch or the one before; a crash of the machine leaves it where the system last wrote it, and
//     an older copy of the ledger from those seconds is then not noticed.
//   - Compact writes a second file, verifies it and renames it over the first: the one or the other
//     is there, with the same records.
//   - A checkpoint and the segments that it counts on are there as a whole, or the ones before, or
//     none that is used. Segments behind the checkpoint's are written over.
//   - Archive makes the mark durable, writes the archive under another name, verifies it, and
//     renames it; then it writes and verifies the ledger without its records and renames that over
//     the first. In between the archive holds copies of what the ledger still has, and is taken
//     when it is made again.
//   - A failed write or sync makes the ledger refuse everything with [ErrUnavailable] until it is
//     opened again: only reading the files back tells what reached the disk. No sync is tried
//     twice.
//
// Nothing waits for the disk, for a conversion that is only shown, or for a query, while it holds
// the lock on budgets and sums.
//
// Opening first verifies all pages of the file by itself (bbolt has no checksums on them), then the
// chain, then the head, then the mark. A file with any damage that spending rests on is refused
// with [ErrDamaged]. So is one of whose two meta pages one is damaged: bbolt would go on with the
// other and forget the last batch. A panic inside bbolt, or a fault on a page that the disk does
// not give, is caught and refused alike. A ledger that ends before its mark, or has another record
// there, is refused with [ErrOlder], unless an [Acceptance] names the day it ends on.
package accounting

// Package shuffler is the party between contributors and the server in the shuffle model: it takes
// sealed bundles with one-time tokens, waits for enough of them, permutes all their messages and
// releases them once.
//
//	contributors ──INSERT INTO inbox──▶ slot ──▶ batch file ──n_max, or the operator──▶ bag ──CALL dp_load_batch──▶ server
//	               or POST over HTTPS    │        OPEN            CLOSED                  RELEASING                 ACKNOWLEDGED
//	                                     └─ one goroutine a (collection, round, stratum, cell)
//
// # Guarantee
//
// Neighbours differ in one contributor's value. The bag of a batch is (ε,δ)-DP against the server
// by the protocol's proof, if this process does what follows and does not work together with the
// server. Nothing else here depends on a value.
//
//   - A batch has at least n_min reports, or it is never released: fewer have too little noise.
//   - A batch is released once, whole, in one uniformly random order over all messages. What is
//     sent again has the same bytes in the same parts. A second permutation of one batch, or two
//     that overlap, would say more than one.
//   - The server learns the number of reports and the messages. Tokens, arrival, addresses and
//     which messages came together are dropped. Nothing of them is in the log.
//   - All bundles of a batch were made from the same parameters: those that were pinned, whose
//     fingerprint holds the server's key. Pinned parameters are verified, and never change.
//   - A token brings one bundle. Tokens are issued here or by somebody independent of the server:
//     who holds the tokens can supply all reports of a batch but one.
//
// The process has no private key and cannot open a message. Noise shares are meant for h honest
// reporters, see collect.Batch; that those exist is not something this package could know.
//
// # Files
//
//	shuffler.db                         bbolt, locked while the process runs; see store.go
//	batches/C-R-S-L-N.reports           bbolt: SHA-256(token) -> SHA-256(token | bundle) | sealed messages, of batch N
//	batches/C-R-S-L-N.bag               the permuted messages, 64 bytes each
//	operator, address, server-cert.pem  what the operator's commands need
//
// A batch's bundles have a file of their own, so that they can be erased with it: a bbolt file
// keeps the bytes of what was deleted. In the file they lie by the hash of their tokens, which no
// order of arrival survives.
//
// # Crash safety
//
// Assumed: what fsync returned for stays, and a rename within a directory is atomic.
//
//	step                                            a crash after it leaves          next start
//	accept: the bundle, in a transaction of its     the bundle; it is acknowledged   the batch is open, a retry is known
//	  batch's file, one fsync for all that wait       after this step
//	close 1: write and fsync the bag, rename it     an open batch and a bag          the bag is deleted unsent; the batch is open
//	close 2: mark tokens spent, record CLOSED, in   a closed batch and its bag       the bag is released
//	  one transaction of shuffler.db
//	release 1: record RELEASING                     the same                         all parts are sent, again, unchanged
//	release 2: the parts, which the server takes    the same                         the same
//	  in any order, again and again, once each
//	acknowledge 1: record ACKNOWLEDGED              files of a finished batch        they are deleted
//	acknowledge 2: delete bag and bundles           nothing but spent tokens
//
// A batch that is destroyed goes from OPEN to DESTROYED in one transaction like that of close 2;
// there is no bag.
package shuffler

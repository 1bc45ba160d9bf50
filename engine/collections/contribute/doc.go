// Package contribute is what an app links so that a person can report to a collection and trust
// nobody with the value. It fetches the public parameters, checks them, randomises once, keeps what
// it made, and sends that.
//
//	p, err := contribute.FetchParams(ctx, db, "commute", token)      // fingerprint, canonical form, every probability
//	report, err := wallet.Report(p, token, contribute.Number(37.5))  // randomised once, on disk before it is returned
//	err = wallet.Send(ctx, db, p.UUID)                               // the same bytes on every attempt
//
// Contribute does the three at once. The app brings its own *sql.DB, with the driver and the TLS
// that it wants; the package imports no driver, no store and no server.
//
// # Guarantee
//
// Neighbours differ in the person's value. What leaves the device in the local model is ε-DP by
// itself (package device); what the parameters promise is recomputed here (collect.Params.Verify),
// so it holds against a server that lies. In the shuffle model a bundle alone is not private: it is
// sealed to the server and goes to the shuffler, and the promise needs the two not to collude. The
// Wallet adds up what all collections cost the person, and refuses what goes beyond the person's
// own caps.
//
// The person's own device makes the report. A program on a server that randomises for its users,
// with a wallet of theirs, has their values: this is the central model with extra noise, and must
// not be called local.
//
// # The wallet's file
//
//	scrim wallet 1 SHA-256-of-all-that-follows, in hex
//	{ "serial": 2, "caps": {...}, "records": [ {...}, ... ] }      JSON, in the one form that Wallet writes
//
// A record has the collection's uuid, the fingerprint of the parameters, what it cost, the exact
// bytes that were made, the token that they go with while they are to be sent, and whether they
// were acknowledged; never the value. Beside the file stands FILE.lock: the process that works with
// the wallet holds a lock on it, and it keeps the serial number of the last write, so that a wallet
// that disappeared or was replaced by an older copy is noticed.
//
// # Crash safety
//
// Assumed: a rename within a directory is atomic, and what fsync returned for stays.
//
//	step                              a crash after it leaves                  next time
//	1 randomise, in memory            the old file; nothing left the device    a first randomisation
//	2 write and fsync FILE.new        the old file and FILE.new                the same; FILE.new is removed unread
//	3 rename to FILE, fsync directory the charge and the bytes                 the same bytes are returned
//	4 write the serial to FILE.lock   the same, lock behind                    the same; the lock catches up
//	5 send                            the charge, the bytes, "pending"         the same bytes are sent; the server takes them once
//	6 acknowledge: 2 to 4 again       "acknowledged" or still "pending"        nothing is sent, or the same bytes
//
// Bytes leave the package only after step 4, so a charge is never lost and nobody sees two
// randomisations of one value. A file that is damaged is refused, never begun anew.
package contribute

// Package collect is the vocabulary of collections: data of people who randomise on their own
// device, so that nobody has to be trusted with it.
//
// A collection has a Protocol, what its DBA declared (Declaration), and for every round and stratum
// public parameters (Params) from which a device makes its report. Everything that a device's
// privacy rests on is recomputed from the declaration by Params.Verify, so a server cannot weaken a
// report by publishing other numbers. The bytes of a report and of a message are defined here too.
//
//	DBA's text   -> ParseDeclaration -> Declaration
//	Declaration  -> Plan             -> Design: sizes of rounds, cells, batches; Forecast, Cost
//	Design       -> Params           -> Canonical bytes, whose SHA-256 is the Fingerprint
//	the bytes    -> Parse, Verify    -> Params on a device, then package device
//	report       -> DecodeReport     -> cell and payload, checked; then package local
//
// # Guarantee
//
// Neighbours differ in the value of one contributor. That somebody took part, in which collection,
// round, stratum and cell, when and from where is not hidden. A contributor reports once, in one
// round.
//
//   - Local: every report is ε-DP by itself, against everybody; (ε, δ)-DP in round 3 of LDP_SCM3
//     with an option, where CheckNamed sees to it that the declaration names the ε. Later rounds
//     depend only on other people's reports.
//   - Shuffle: the bag of one batch is (ε,δ)-DP against the server if the shuffler permutes and
//     does not collude with the server, and at least Batch.Honest reporters follow the protocol.
//     Against the two together there is no guarantee.
//
// Params.Cost says it in numbers.
//
// # What privacy rests on
//
// Per cell: Randomiser, Domain and Keep, or for DLAP and DGAUSS the declared ε, δ and dimension
// alone. Per batch: everything but Clip. For the shuffle model also SealKey, which the fingerprint
// binds: who publishes two keys has two fingerprints, and a shuffler takes one. What earlier rounds
// published, the signs and the bounds of values only shape the map from a value to a randomiser's
// input; any such map is private.
//
// # The same numbers everywhere
//
// A device refuses integers that differ from its own by one. They are therefore derived by integer
// arithmetic, by package exact, by the accountants (mix, blanket, skellam), or by functions with
// the same bits on every machine (package strict) with every product rounded before it is added. A
// change to any derivation needs another Version; TestFingerprints notices.
//
// The package knows no SQL, no store and no server: contributors' programs import it.
package collect

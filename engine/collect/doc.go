// Package collect is the vocabulary of collections: data of people who randomise on their own
// device, so that nobody has to be trusted with it.
//
// A collection has a Protocol, what its DBA declared (Declaration), and for every round and stratum
// public parameters (Params) from which a device makes its report. Everything that a device's privacy
// rests on is recomputed from the declaration by Params.Verify, so a server cannot weaken a report by
// publishing other numbers. The bytes of a report and of a message are defined here too.
//
// # Guarantee
//
// Neighbours differ in the value of one contributor. That somebody took part, in which collection,
// round, stratum and cell, when and from where is not hidden. A contributor reports once, in one
// round.
//
//   - Local: every report is ε-DP by itself, against everybody. Later rounds depend only on other
//     people's reports.
//   - Shuffle: the bag of one batch is (ε,δ)-DP against the server if the shuffler permutes and does
//     not collude with the server, and at least Batch.Honest reporters follow the protocol. Against
//     the two together there is no guarantee.
//
// The package knows no SQL, no store and no server: contributors' programs import it.
package collect

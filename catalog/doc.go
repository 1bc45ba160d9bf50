// Package catalog keeps the policies: which tables are protected or public, the person that each
// protected row belongs to, public domains, and defaults. Its answers are immutable values; every
// change is checked, made durable, and only then visible.
//
// # What never happens
//
// Two things must survive whatever is done to tables, columns and users: protection, and the key of
// the budget that a table's queries are charged to (Table.Account). The catalogue keeps both by one
// rule: a name is bound to an account for good, when the table of that name is protected first, or
// when a table with an account is renamed to it.
//
//   - DROP and re-creation keep the record of the name: a new table of the name is protected as
//     before, on the same account. A name that was public becomes undeclared, for nobody has looked
//     at the new table yet.
//   - Renaming t to u gives u the policy and the account of t, and t keeps both for whatever is
//     created there next. Two names then share one account, so neither is a fresh budget. This also
//     makes the order against the store's commit irrelevant: whether the rename commits, rolls back
//     or is cut off by a crash, both names are protected.
//   - Renaming onto a name that is bound to another account is refused. It would have to forget one
//     of the two accounts, and a later rename back would then spend from a budget that was never
//     charged.
//   - A table without a policy that is renamed onto a protected name becomes protected, as if it
//     had been loaded into that table: a nightly "load t_new, swap" keeps its protection and its
//     account.
//   - Unprotecting makes a table undeclared, not public, and keeps account and entity: protecting
//     it again goes on with what was spent. Declaring it public is a second, separate step.
//   - A protected table changes its unit only by way of dp_unprotect, so that no statement weakens
//     a policy silently, and its entity only as long as nothing has been charged.
//   - All tables of an entity and all names of an account have one neighbour relation
//     (SetNeighbours), which changes only as long as nothing has been charged to any of them. It
//     stays with the entity when its tables are unprotected, as the losses do.
//   - A row may belong to a second person, of another entity: a table is protected or linked once
//     for each. Persons of the two entities are declared to be different people first
//     (SetDisjoint), for good: somebody who were both would lose more than either is charged for.
//   - The unit of an entity is the whole person, or one person's rows of one period
//     (ProtectPeriods), the same for all tables of the entity. It changes only as long as nothing
//     has been charged to the entity or the table.
//   - Links and domains follow the table that they refer to when it is renamed. Columns that a
//     policy rests on are not renamed, dropped or changed; Snapshot.Uses says which those are.
//
// The claim: let D be a set of rows reachable through name n at any time. If D was ever protected,
// every private query on D is charged to the account that D's first protected name was bound to.
// Induction over mutations: drop, re-creation, unprotect and protect do not change the account of a
// name; a rename copies the account with the rows, or is refused. What a DBA copies by hand (CREATE
// TABLE … SELECT) is a new undeclared table; only a budget on the entity caps the two together.
//
// # The file
//
// The state is small (some hundred bytes a table) and changes by hand, so it is one file that is
// replaced as a whole. An embedded store would bring pages that must be trusted one by one; here
// one checksum covers every byte, and an operator can read the file.
//
//	line 1   {"format":"scrim-catalog","version":1,"directory":ID,"revision":N,"sha256":HEX}
//	rest     the state as JSON; the checksum covers version, directory, revision and state
//
// A change writes a temporary file beside it, fsyncs it, renames it over the old one, and fsyncs
// the directory. Assumptions: rename is atomic, and fsync is honest. Possible states after a crash:
// the old file (with or without a stray temporary one), or the new file; never a mixture. If any
// step fails, the catalogue keeps answering from the old state and refuses further changes until it
// is opened again, because it cannot know which of the two files the disk will show.
//
// One process at a time: the ledger's file lock guards the data directory and must be taken first.
// As a second line, a change is refused when the file is not the one that was written last.
package catalog

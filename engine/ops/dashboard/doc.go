// Package dashboard is the server's page for DBAs and auditors: budgets as burn-down charts, who
// spends, what was charged, what was refused and why. It shows what the ledger, the policies and
// [watch.Event] hold, and nothing of rows. The size of the data directory and what is free of its
// disk follow from rows: they are told to DBAs only, who may read these.
//
//	browser ─▶ headers (policy, no caching) ─▶ same origin? ─▶ session? ─▶ page ─▶ html/template
//	                                                   └─ no ─▶ /login ─▶ limits ─▶ Accounts.Login ─▶ session
//
// The log-in is that of the server's own accounts, for DBAs and auditors only. A session is 256
// random bits in a cookie that scripts cannot read and other sites do not send; the server keeps
// their hash, for twelve hours at most, and asks at every page whether the account may still look.
// Forms carry a token and must come from the page's own origin. Attempts to log in are limited by
// account and by address.
//
// Pages are whole without scripts: charts are SVG that the server draws, each with a sentence and a
// table that say the same. One script refreshes them in place, and leaves the part alone that the
// keyboard or the selection is in. All files are embedded; nothing is fetched from elsewhere, which
// the content security policy forbids as well.
package dashboard

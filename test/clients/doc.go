// Package clients runs real MySQL clients against a real server: the matrix behind docs/clients.md.
//
// One folder under testdata is one client: client.json says what it is, what it needs and how it is
// started; beside it stand its scripts, in the client's own language. The runner starts the built
// server over a fresh data directory with a fixed data set, copies the folder, starts the command
// in a process group of its own, and reads one line a check:
//
//	NAME<TAB>VALUE (JSON)
//
// The client says what it saw, never whether that is right: the runner compares with what the data
// set holds. A check that a client cannot do by its nature is the string "n/a: why". Extra checks,
// extra:NAME, are true, or a string that says what went wrong.
//
// Prepared means that the server prepares the statement. Many drivers only fill in place holders
// and send text: their clients send PREPARE, SET and EXECUTE over one connection, and client.json
// says "prepares_in_sql", which the report shows.
//
//	testdata/<client>/ ─▶ client_test.go: what to run ─▶ run_test.go: how ─▶ checks_test.go: was it right ─▶ written_test.go
//	data_test.go: the data set and its truth          ─▶ server_test.go
//
// A client gets SCRIM_HOST, SCRIM_PORT, SCRIM_DB, SCRIM_USER and SCRIM_PASSWORD (an analyst),
// SCRIM_SHA2_USER (another, with the same password and caching_sha2_password), SCRIM_DBA and
// SCRIM_DBA_PASSWORD, SCRIM_BINARY (the server's program), SCRIM_CA (the certificate, PEM),
// SCRIM_OUT (a folder for what is worth a look), NODE_PATH, and PYTHONPATH with testdata/lib.
//
// The tests pass without any client installed. To run some or all of them:
//
//	go test -tags gms_pure_go ./test/clients -run TestMatrix -clients pymysql,mysqldump -v
//	go test -tags gms_pure_go ./test/clients -run TestMatrix -clients all -clients.write
//	go test -tags gms_pure_go ./test/clients -run TestHold -clients.hold 10m -v   # by hand
//
// docs/clients.md is also the record: a check that passes there has to pass again; one that fails
// there is told and passed over. -clients.write puts the results of the clients that ran into it.
package clients

// Package enginetest runs go-mysql-server's own engine tests against a server of this project,
// over a real connection with the text protocol.
//
// The statements, their set-up data and the expected rows are those of the module's packages
// enginetest/queries and enginetest/scriptgen/setup. Each assertion passes, fails, or is refused:
// the server said by name that it does not support the statement. testdata/failures.txt and
// testdata/refused.txt list what fails and what is refused, each line with a reason. The test fails
// if something fails that is not listed, and if something listed passes, so that the lists shrink.
//
//	go test -tags gms_pure_go ./test/enginetest                           # every eighth script
//	go test -tags gms_pure_go ./test/enginetest -enginetest.all           # everything
//	go test -tags gms_pure_go ./test/enginetest -enginetest.all -enginetest.write
//
// The last command writes both lists anew. Lines that stay keep their reasons.
package enginetest

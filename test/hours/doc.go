// Package hours plays five people who meet the product for the first time, by what they type and
// see: the tests behind docs/hours.md.
//
//	newcomer     the two commands of README.md, read out of it
//	DBA          an empty directory, two files of MovieLens, protection, a budget, an account
//	analyst      ten questions and a chart in the shell, one in the console, one in Python
//	agent        the tools of scrim mcp, over standard streams
//	contributor  a link to a question, opened in a browser
//
// The DBA comes first; the others then use the DBA's server at the same time, and the newcomer a
// demonstration beside them. Each makes a mistake or two, as people do.
//
//	play_test.go ─▶ one file a person ─▶ messages_test.go: was every message read before ─▶ report_test.go
//
// Whoever plays types lines into a shell of their own, which runs the built program. Every line on
// standard error, every warning and every refusal has to match an entry of messages_test.go, which
// somebody made who had read the message, and who names the words by which it says what to do next.
//
// The tests pass without playing. To play, and to write docs/hours.md and its pictures:
//
//	bash .ci/checks/hours.sh
//	bash .ci/checks/hours.sh --write
package hours

// Package shell is the interactive client of the server, behind `scrim sql`: it reads statements,
// sends them over MySQL's protocol as any client does, and writes answers, warnings and what an
// answer cost.
//
//	Shell      one connection, where answers go, and how they are written
//	script.go  where a statement of a text ends
//	command.go what begins with a backslash
//	write.go   tables, CSV, JSON, Markdown, vertical; bars with intervals
//	terminal.go  editing at a terminal
//
// Answers go to Out and everything else to Err, so that a script's output is data alone. Texts of
// the server are shown without control characters, which could make a terminal do things. Nothing
// is added to what an account may do: every number comes from a statement of that account.
package shell

// Package digest takes the values out of SQL texts, so that they can be logged, listed and counted:
// a literal may be a value of somebody's row, or a password.
//
//	text ─▶ lex.go     tokens, comments dropped, each literal one mark
//	     ─▶ digest.go  passwords, signs and lists of values
//	     ─▶ print      keywords in capitals, one space where one belongs, at most [MaxBytes] bytes
//
// [Redact] is total: every text has a redacted form. Where a text can be read in two ways (an
// escaped quote that another sql_mode ends a string at), or not at all (a string without an end),
// what stands before that place is printed, and of the rest nothing. What is printed are keywords,
// identifiers, operators and the names of functions and variables; numbers, strings of every
// spelling, bits, dates and double-quoted texts are "?". Identifiers in back quotes that look like
// an expression, as some tools name their columns, lose their literals too.
//
// [Of] is a short name for a redacted text: texts that differ in literals, white space, comments or
// the case of keywords have the same.
package digest

// Package dialect brings MySQL statements that the parser lacks into statements that it has, or
// refuses them by name. It stands between a client's text and vitess' grammar:
//
//	text ─▶ tokens ─▶ forms ─▶ rules ─▶ text that the grammar has ─▶ syntax tree ─▶ steps
//	                   │         │                                    with the client's names
//	                   │         └─ refused                           and positions
//	                   └─ another statement
//
// Steps are others' (Grammar.Then): they change the tree, or refuse the statement.
//
// The text is cut into tokens once (scan), by the session's sql_mode (Mode): literals, quoted names
// and comments are whole, and what stands in /*!80000 … */ is part of the statement. A form (Form)
// is a statement as a whole, such as SHOW STORAGE ENGINES, that another one answers. Rules look at
// single tokens and note edits. A text that nothing is noted for goes to the parser as it is, byte
// for byte.
//
// Vitess' own tokenizer serves the grammar only: it does not tell where a token begins, and knows
// no NO_BACKSLASH_ESCAPES. A test compares the two on the same texts.
//
// What is edited is seen by the parser alone. The tree gets the client's own words as names of
// columns, and the places of a view's definition in the client's text, so that what is stored is
// what was sent. What the parser reads again, such as a view, is edited again.
package dialect

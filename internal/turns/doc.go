// Package turns divides the processors among statements that compute for long in the server's own
// process, so that short ones need not wait for them.
//
// A Seat is the place of a connection. Whoever computes for its statement calls Look now and then.
// For the first milliseconds of a statement that does nothing. Then the statement takes a turn, of
// which there is one less than there are processors, and when that is over it waits for the next:
//
//	Look ─▶ the statement is short, or its turn lasts   it goes on
//	     ─▶ its turn is over, nobody waits              it goes on with another one
//	     ─▶ its turn is over, others wait               it waits: the account goes first that
//	                                                    has had the least time
//
// Long is for a single step of many milliseconds, during which nothing looks. Rest gives the turn
// back, for one that is about to wait. Who does not look any more loses its turn after a while.
//
// The processor that is left over is for whoever begins a statement meanwhile. While nobody does,
// there is one turn more.
package turns

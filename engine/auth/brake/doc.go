// Package brake slows down who tries passwords: each failure makes the next attempt wait longer, by
// account and address together and, less, by address. Nothing is held against an account alone, so
// that nobody keeps its owner out from elsewhere.
//
// The server's accounts and the shuffler's are behind it. It knows names, addresses and how a check
// ended, and no password.
package brake

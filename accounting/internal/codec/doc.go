// Package codec writes and reads the values that the ledger's files consist of: big-endian numbers,
// uvarints, texts with their length before them, and lists with theirs. Writing appends to a slice;
// reading takes values off one with a Decoder.
package codec

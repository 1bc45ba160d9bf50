// Package release says which Scrim a program is: its version, which stands here and nowhere else,
// and the commit and the Go version that the linker noted in it.
package release

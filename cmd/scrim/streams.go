package main

import "io"

// streams are a command's standard streams.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

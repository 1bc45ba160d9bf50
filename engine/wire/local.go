package wire

import (
	"context"
	"io"
	"time"
)

// LocalFile asks the client for a file of its own and returns what it sends. Close reads the rest
// of it and must come before anything else is sent. The client must allow it, see LocalFiles.
func (c *Conn) LocalFile(ctx context.Context, name string) (io.ReadCloser, error) {
	at := c.packet()
	c.out = append(append(c.out, packetLocalFile), name...)
	if err := c.end(at); err != nil {
		return nil, err
	}
	if err := c.flush(); err != nil {
		return nil, err
	}
	return &localFile{ctx: ctx, c: c}, nil
}

// localFile is a file on its way. An empty packet ends it.
type localFile struct {
	ctx  context.Context
	c    *Conn
	part []byte
	err  error
}

// Read implements io.Reader.
func (f *localFile) Read(p []byte) (int, error) {
	for len(f.part) == 0 {
		if f.err != nil {
			return 0, f.err
		}
		if err := f.ctx.Err(); err != nil {
			return 0, err
		}
		f.next()
	}
	n := copy(p, f.part)
	f.part = f.part[n:]
	return n, nil
}

func (f *localFile) next() {
	_ = f.c.conn().SetReadDeadline(time.Now().Add(f.c.timeouts.body()))
	f.part, f.err = f.c.read(f.c.listener.cfg.MaxPacket)
	switch {
	case f.err == io.EOF: // of the connection: the file goes on
		f.err = io.ErrUnexpectedEOF
	case f.err == nil && len(f.part) == 0:
		f.err = io.EOF
	}
}

// Close implements io.Closer.
func (f *localFile) Close() error {
	for f.err == nil {
		f.next()
	}
	f.part = nil
	if f.err != io.EOF {
		f.c.failed = f.err // the connection is out of step
		return f.err
	}
	return nil
}

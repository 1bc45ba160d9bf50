package shuffler

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"os"

	"scrim/engine/collect/seal"
)

// memoryOfPermutation is how many bytes of messages are permuted in memory at once.
const memoryOfPermutation = 256 << 20

// words draws uniform integers from a source of random bytes, by blocks.
type words struct {
	source io.Reader
	block  [4096]byte
	left   int
}

// next returns 64 random bits. A source that fails ends the process: there is nothing to do without randomness.
func (w *words) next() uint64 {
	if w.left == 0 {
		if _, err := io.ReadFull(w.source, w.block[:]); err != nil {
			panic("shuffler: no randomness: " + err.Error())
		}
		w.left = len(w.block)
	}
	w.left -= 8
	return binary.LittleEndian.Uint64(w.block[w.left:])
}

// below returns a uniform integer in [0, k), k > 0, by rejection: of 2^64 values the first 2^64 mod k are drawn again.
func (w *words) below(k uint64) uint64 {
	for least := -k % k; ; {
		if x := w.next(); x >= least {
			return x % k
		}
	}
}

// permute puts the messages of a bag into a uniformly random order (Fisher and Yates).
func (w *words) permute(bag []byte) {
	const size = seal.SealedSize
	var kept [size]byte
	for i := len(bag)/size - 1; i > 0; i-- {
		a, b := bag[i*size:][:size], bag[int(w.below(uint64(i+1)))*size:][:size]
		copy(kept[:], a)
		copy(a, b)
		copy(b, kept[:])
	}
}

// scatter permutes more messages than memory holds. Each goes to one of several piles, drawn uniformly for it alone;
// then every pile is permuted in memory, and they are laid one after another. The sequence of piles with their contents
// is exchangeable under any permutation of the messages, so that all orders are equally likely, whatever the
// sizes of the piles come out as (Rao and Sandelius).
type scatter struct {
	words words
	piles []pile
}

// pile is one of them: in memory if it is the only one, else in a file without a name.
type pile struct {
	memory []byte
	file   *os.File
	buffer *bufio.Writer
}

// newScatter makes piles for a bag of about so many bytes. dir is where their files are.
func newScatter(source io.Reader, dir string, bytes, memory int64) (*scatter, error) {
	s := &scatter{words: words{source: source}, piles: make([]pile, 1)}
	if bytes <= memory {
		s.piles[0].memory = make([]byte, 0, bytes)
		return s, nil
	}
	s.piles = make([]pile, 2*(bytes/memory+1))
	for i := range s.piles {
		f, err := os.CreateTemp(dir, "pile-*.tmp")
		if err != nil {
			s.close()
			return nil, err
		}
		_ = os.Remove(f.Name()) // it lives until it is closed
		s.piles[i] = pile{file: f, buffer: bufio.NewWriterSize(f, 64<<10)}
	}
	return s, nil
}

// add takes whole messages.
func (s *scatter) add(sealed []byte) error {
	for ; len(sealed) >= seal.SealedSize; sealed = sealed[seal.SealedSize:] {
		p := &s.piles[0]
		if len(s.piles) > 1 {
			p = &s.piles[s.words.below(uint64(len(s.piles)))]
		}
		if p.file == nil {
			p.memory = append(p.memory, sealed[:seal.SealedSize]...)
		} else if _, err := p.buffer.Write(sealed[:seal.SealedSize]); err != nil {
			return err
		}
	}
	return nil
}

// writeTo writes all messages in random order.
func (s *scatter) writeTo(w io.Writer) error {
	for i := range s.piles {
		b, err := s.piles[i].read()
		if err != nil {
			return err
		}
		s.words.permute(b)
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

func (p *pile) read() ([]byte, error) {
	if p.file == nil {
		return p.memory, nil
	}
	if err := p.buffer.Flush(); err != nil {
		return nil, err
	}
	if _, err := p.file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(p.file)
}

func (s *scatter) close() error {
	var all error
	for _, p := range s.piles {
		if p.file != nil {
			all = errors.Join(all, p.file.Close())
		}
	}
	return all
}

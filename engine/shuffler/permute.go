package shuffler

import (
	"bufio"
	"errors"
	"io"
	"os"

	"scrim/engine/collect/exact"
	"scrim/engine/collect/seal"
)

// memoryOfPermutation is how many bytes of messages are permuted in memory at once.
const memoryOfPermutation = 256 << 20

// permute puts the messages of a bag into a uniformly random order.
func permute(random *exact.Rand, bag []byte) {
	const size = seal.SealedSize
	var kept [size]byte
	random.Permute(len(bag)/size, func(i, j int) {
		a, b := bag[i*size:][:size], bag[j*size:][:size]
		copy(kept[:], a)
		copy(a, b)
		copy(b, kept[:])
	})
}

// scatter permutes more messages than memory holds. Each goes to one of several piles, drawn
// uniformly for it alone; then every pile is permuted in memory, and they are laid one after
// another. The sequence of piles with their contents is exchangeable under any permutation of the
// messages, so that all orders are equally likely, whatever the sizes of the piles come out as (Rao
// and Sandelius).
type scatter struct {
	random *exact.Rand
	piles  []pile
}

// pile is one of them: in memory if it is the only one, else in a file without a name.
type pile struct {
	memory []byte
	file   *os.File
	buffer *bufio.Writer
}

// newScatter makes piles for a bag of about so many bytes. dir is where their files are.
func newScatter(random *exact.Rand, dir string, bytes, memory int64) (*scatter, error) {
	s := &scatter{random: random, piles: make([]pile, 1)}
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
			p = &s.piles[s.random.Uniform(uint64(len(s.piles)))]
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
		permute(s.random, b)
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

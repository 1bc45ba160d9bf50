package seal

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

// chunk is how many messages a core takes at a time: some 20 ms of work.
const chunk = 256

// OpenAll opens a bag of sealed messages, one after another in bag, on all cores. It returns the
// messages that open, one after another in the bag's order, and how many do not. One encapsulation
// of a key is undone for each message, which is what the time goes into: messages that shared one
// could be linked.
//
// progress, where given, is told from time to time how many are done; calls do not overlap, and the
// numbers grow. An error is that of ctx, or of a bag whose length is not a multiple of SealedSize.
func (o *Opener) OpenAll(ctx context.Context, bag []byte, progress func(done int)) (messages []byte, failed int, err error) {
	if len(bag)%SealedSize != 0 {
		return nil, 0, fmt.Errorf("seal: a bag of %d bytes holds no whole number of messages", len(bag))
	}
	work := &opening{opener: o, bag: bag, progress: progress}
	work.chunks = make([][]byte, (len(bag)/SealedSize+chunk-1)/chunk)
	var cores sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(work.chunks)) {
		cores.Go(func() { work.run(ctx) })
	}
	cores.Wait()
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	messages = make([]byte, 0, len(bag)/SealedSize*PlainSize)
	for _, c := range work.chunks {
		messages = append(messages, c...)
	}
	return messages, (len(bag)/SealedSize - len(messages)/PlainSize), nil
}

// opening is the state of one OpenAll.
type opening struct {
	opener *Opener
	bag    []byte
	chunks [][]byte // what each chunk of the bag holds; every one has one writer
	next   atomic.Int64

	telling  sync.Mutex
	done     int
	progress func(int)
}

func (w *opening) run(ctx context.Context) {
	for ctx.Err() == nil {
		i := int(w.next.Add(1) - 1)
		if i >= len(w.chunks) {
			return
		}
		sealed := w.bag[i*chunk*SealedSize:]
		sealed = sealed[:min(len(sealed), chunk*SealedSize)]
		w.chunks[i] = w.opener.openChunk(sealed)
		w.tell(len(sealed) / SealedSize)
	}
}

func (o *Opener) openChunk(sealed []byte) []byte {
	messages := make([]byte, 0, len(sealed)/SealedSize*PlainSize)
	for ; len(sealed) > 0; sealed = sealed[SealedSize:] {
		if m, ok := o.Open(sealed[:SealedSize]); ok {
			messages = append(messages, m[:]...)
		}
	}
	return messages
}

func (w *opening) tell(more int) {
	if w.progress == nil {
		return
	}
	w.telling.Lock()
	defer w.telling.Unlock()
	w.done += more
	w.progress(w.done)
}

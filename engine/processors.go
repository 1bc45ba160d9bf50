package engine

import (
	"os"
	"runtime"
	"sync"
)

// processors is how many processors there are to compute with. From its first call on Go uses one
// more, unless GOMAXPROCS says how many: Go looks at the network when one of its processors has
// nothing to do, and else every 10 ms. So there is one beside those that compute, and the operating
// system divides the machine's own among them.
var processors = sync.OnceValue(func() int {
	n := runtime.GOMAXPROCS(0)
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(n + 1)
	}
	return n
})

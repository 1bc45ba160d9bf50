// Package processors counts the processors that there are to compute with.
package processors

import (
	"os"
	"runtime"
	"sync"
)

// Count is how many processors there are to compute with. From its first call on Go uses one
// more, unless GOMAXPROCS says how many: Go looks at the network when one of its processors has
// nothing to do, and else every 10 ms. So there is one beside those that compute, and the operating
// system divides the machine's own among them.
var Count = sync.OnceValue(func() int {
	n := runtime.GOMAXPROCS(0)
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(n + 1)
	}
	return n
})

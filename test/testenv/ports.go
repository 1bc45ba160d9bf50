package testenv

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// Ports finds ports of this machine that nothing listens on. They are below those that systems give
// to connections, so that none takes them before the test does.
func Ports(t testing.TB, n int) (ports []int) {
	t.Helper()
	for tries := 0; len(ports) < n; tries++ {
		port := 15000 + rand.IntN(15000)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			if tries > 1000 {
				t.Fatal(err)
			}
			continue
		}
		defer l.Close()
		ports = append(ports, port)
	}
	return ports
}

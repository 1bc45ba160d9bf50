package wire

import (
	"net"
	"net/netip"
)

// HostOf is the address of a client without its port, localhost for one at a socket of this
// machine.
func HostOf(a net.Addr) string {
	if a.Network() == "unix" {
		return "localhost"
	}
	host, _, err := net.SplitHostPort(a.String())
	if err != nil {
		return a.String()
	}
	return host
}

// Network is what is taken for one address where clients are bounded by it: of IPv6, what one
// customer has.
func Network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil || !ip.Unmap().Is6() {
		return address
	}
	p, _ := ip.WithZone("").Prefix(64)
	return p.String()
}

// Package wire guards the server's socket. It stands between the network and the MySQL protocol
// implementation, sees every packet in clear, and lets through only what the phase allows:
//
//	accept ─▶ slots ─▶ greeting ─▶ [SSLRequest ─▶ TLS] ─▶ login exchange ─▶ OK ─▶ commands
//	          full?      │            required?              │               │
//	          1040       └── one deadline, a small cap on every packet ──────┘   max packet
//
// Until the server's OK packet has passed, a connection has one deadline, may send packets up to a
// small size only, and holds one of a limited number of login slots. A packet's announced length is
// checked before the protocol implementation sees it, because that one allocates by it.
//
// TLS ends here, not above: the protocol implementation could neither cap packets inside TLS nor
// refuse a client that goes on in clear. The sequence numbers of the login exchange are shifted by
// the SSLRequest packet that the implementation never sees. With RequireTLS a client whose first
// packet is not an SSLRequest is told so and closed; its user name and scramble are not looked at.
package wire

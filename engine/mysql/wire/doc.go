// Package wire speaks the MySQL client/server protocol. It stands between the network and a
// Handler, which knows sessions and statements:
//
//	accept ─▶ slots ─▶ greeting ─▶ [SSLRequest ─▶ TLS] ─▶ login exchange ─▶ OK ─▶ commands
//	          full?      │            required?              │   full? 1040  │       ▲ │
//	          1040       └── one deadline, a small cap on every packet ──────┘       │ └─▶ COM_CHANGE_USER
//	                                         ▲                                       │          │
//	                                         └───────── the old session has ended ───┴──────────┘
//
// Who has logged in holds one of a limited number of places, of which one account may have a part
// only; one place more is for administrators, so that somebody can come in and end what fills the
// others.
//
// Until the OK packet, a connection has one deadline, may send packets up to a small size only, and
// holds one of a limited number of login slots. With RequireTLS a client whose first packet is not
// an SSLRequest is told so and closed; its user name and scramble are not looked at. TLS starts
// behind exactly the SSLRequest: nothing that was sent in clear after it is read.
//
// After the login every command has a size limit, memory grows with what has arrived and not with
// what a packet announces, and a client that is silent between two commands for longer than the
// handler's time is told so and closed. What a connection holds of packets and long data is
// bounded, by itself and together with all others (held.go), and given back once it is worked on. A
// command that cannot be read is answered with MySQL's number for it; the connection goes on,
// because packets have lengths.
//
// # Results
//
// A result goes out in batches, as the handler hands them over. An error after the first batch
// takes the place of the next row, as the protocol allows. Prepared statements keep the types that
// a client named for its parameters, and what COM_STMT_SEND_LONG_DATA has brought, until they are
// reset, executed or closed. A cursor that a client asks for is not opened: the server may always
// send a result whole, and says so by leaving the flag out.
//
// # Fields of packets
//
// Integers are little-endian. A length-encoded integer is one byte below 251, else 0xfc, 0xfd or
// 0xfe and 2, 3 or 8 bytes; 0xfb in a row is NULL. reader takes fields from a packet and remembers
// that it ran out of bytes, so that a command is checked once, after its last field.
package wire

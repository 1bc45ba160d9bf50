// Package seal closes a contributor's messages to the server, so that the shuffler in between can
// count and permute them and read none.
//
// Every message is sealed by itself, with an encapsulation of its own: HPKE [RFC9180] in base mode
// with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and ChaCha20-Poly1305, the fingerprint of the
// round's parameters as info, no associated data. Sealed messages have one length and look random,
// so two of one contributor cannot be told from two of different ones.
//
//	sealed message, 64 bytes     encapsulated key 32 | ciphertext 16 | tag 16
//	bundle, one contributor's    fingerprint 32 | count u32be | count sealed messages | padding
//	bag, one batch's             sealed messages, permuted by the shuffler
//
// # Guarantee
//
//   - Local model: nothing here is used, and nothing rests on it.
//   - Shuffle model: the bag is (ε,δ)-DP against the server whatever is in it, as the messages of a
//     contributor are made private before they are sealed. Sealing serves against the shuffler and
//     the network: without the server's private key the messages are as hidden as HPKE hides them,
//     which is computational. The two together can link and read, and then there is no guarantee.
//
// The server's public key stands in the parameters and so in the fingerprint. A server that handed
// each contributor a key of its own would hand out as many fingerprints, and the shuffler refuses
// all but the one that it pinned (Shape.Check). A bundle's length depends on public parameters
// alone: where the number of messages is random (SHUF_HIER) it is padded to that of the largest,
// with random bytes, so that compression on the way tells nothing either. A network that loses long
// bundles more often than short ones would otherwise lose noise.
//
// The private key exists on the server only, until the round's batches are loaded. Whoever got it
// later, with the shuffler's traffic, would be both at once.
package seal

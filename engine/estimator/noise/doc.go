// Package noise draws exact discrete noise from a cryptographic source.
package noise

// Package partition selects group keys privately.
package partition

import "scrim/accounting"

// Selection is a threshold on noisy numbers of units (filled in with the mechanism).
type Selection struct {
	loss accounting.Loss
}

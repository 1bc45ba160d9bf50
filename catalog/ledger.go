package catalog

import "fmt"

// Follow has every later change of the file keep what ledger says at that moment: how far the
// ledger beside it had come. The catalogue does not read it.
func (c *Catalog) Follow(ledger func() string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ledger = ledger
}

// Ledger returns what the file keeps of the ledger; "" where it keeps nothing.
func (c *Catalog) Ledger() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.header.Ledger
}

// NoteLedger writes the file again with that note of the ledger, where it has another one. The
// policies stay as they are.
func (c *Catalog) NoteLedger(ledger string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.failed != nil:
		return fmt.Errorf("%w: %w", ErrUnavailable, c.failed)
	case c.header.Ledger == ledger:
		return nil
	}
	if err := unchanged(c.path, c.header); err != nil {
		c.failed = err
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return c.replace(c.Snapshot(), ledger)
}

// following is what a change keeps of the ledger: what was kept before, where nothing is followed.
// c.mu is held.
func (c *Catalog) following() string {
	if c.ledger == nil {
		return c.header.Ledger
	}
	return c.ledger()
}

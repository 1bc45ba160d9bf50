package session

import (
	"regexp"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// Transaction is what the session tells GMS about its transaction. The store's own one is begun by
// the first access to the store.
type Transaction struct {
	// explicit: BEGIN, or autocommit = 0. Otherwise every write commits by itself.
	explicit bool
	readOnly bool
	// locked: LOCK TABLES began it.
	locked bool
	// snapshot: it began WITH CONSISTENT SNAPSHOT.
	snapshot   bool
	savepoints []savepoint
}

// String implements sql.Transaction.
func (t *Transaction) String() string {
	if t.explicit {
		return "transaction"
	}
	return "autocommit"
}

// IsReadOnly implements sql.Transaction.
func (t *Transaction) IsReadOnly() bool { return t.readOnly }

// StartTransaction implements sql.TransactionSession. GMS calls it before every statement outside a
// transaction, and once more for BEGIN, when the first call's transaction is current.
func (s *Session) StartTransaction(ctx *sql.Context, c sql.TransactionCharacteristic) (sql.Transaction, error) {
	begin := ctx.GetTransaction() != nil
	auto, err := plan.IsSessionAutocommit(ctx)
	if err != nil {
		return nil, err
	}
	tx := &Transaction{explicit: begin || !auto, readOnly: c == sql.ReadOnly, snapshot: begin && consistent.MatchString(ctx.Query())}
	if tx.snapshot {
		if st, err := s.Store(ctx); err != nil {
			return nil, err
		} else if !st.InTransaction() {
			return tx, st.Begin(ctx)
		}
	}
	return tx, nil
}

// consistent finds START TRANSACTION … WITH CONSISTENT SNAPSHOT, and some texts that only speak of
// it.
var consistent = regexp.MustCompile(`(?is)\bwith\b.*\bconsistent\b.*\bsnapshot\b`)

// Fixed names the statement by which the client has fixed what the session reads until a later one,
// "" if none has.
func Fixed(ctx *sql.Context) string {
	tx, ok := ctx.GetTransaction().(*Transaction)
	switch {
	case ok && tx.locked:
		return "LOCK TABLES … READ"
	case ok && tx.snapshot:
		return "START TRANSACTION WITH CONSISTENT SNAPSHOT"
	}
	return ""
}

// CommitTransaction implements sql.TransactionSession.
func (s *Session) CommitTransaction(ctx *sql.Context, _ sql.Transaction) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store == nil || !s.store.InTransaction() {
		return nil
	}
	err := s.store.Commit(ctx)
	if err != nil {
		// It has ended the transaction all the same. go-mysql-server would take what follows for
		// statements of it, which nothing commits.
		ctx.SetIgnoreAutoCommit(false)
		ctx.SetTransaction(nil)
	}
	return err
}

// Rollback implements sql.TransactionSession. Charges made inside the transaction stand.
func (s *Session) Rollback(ctx *sql.Context, _ sql.Transaction) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store == nil || !s.store.InTransaction() {
		return nil
	}
	return s.store.Rollback(ctx)
}

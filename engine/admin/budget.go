package admin

import (
	"errors"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting"
	"scrim/catalog"
	"scrim/internal/refuse"
)

// entityPrefix marks the target of a budget as an entity.
const entityPrefix = "entity:"

func (a *Admin) setBudget(ctx *sql.Context, args []string) error {
	account, entity, err := a.target(ctx, args[0])
	if err != nil {
		return err
	}
	principal, err := a.principal(ctx, args[1])
	if err != nil {
		return err
	}
	epsilon, err := number("epsilon", args[2])
	if err != nil {
		return err
	}
	delta, err := number("delta", args[3])
	if err != nil {
		return err
	}
	return public(a.o.Ledger.SetBudget(ctx, accounting.Budget{
		Account: account, Entity: entity, Principal: principal,
		Epsilon: accounting.Epsilon(epsilon), Delta: accounting.Delta(delta),
		Window: accounting.Window(strings.ToLower(strings.TrimSpace(args[4]))),
		SetBy:  a.o.Principal(ctx),
	}))
}

func (a *Admin) dropBudget(ctx *sql.Context, args []string) error {
	account, entity, err := a.target(ctx, args[0])
	if err != nil {
		return err
	}
	principal, ok := principalName(args[1])
	if !ok {
		return badPrincipal(args[1])
	}
	return public(a.o.Ledger.RemoveBudget(ctx, account, entity, principal, a.o.Principal(ctx)))
}

// target returns the account that a budget caps: an entity's name, or a table's account, which is
// the same for all names that the table ever had.
func (a *Admin) target(ctx *sql.Context, text string) (account string, entity bool, err error) {
	s := a.o.Catalog.Snapshot()
	t := strings.TrimSpace(text)
	if len(t) > len(entityPrefix) && strings.EqualFold(t[:len(entityPrefix)], entityPrefix) {
		name := strings.ToLower(strings.TrimSpace(t[len(entityPrefix):]))
		if known := s.Entities(); !slices.Contains(known, name) {
			return "", false, refuse.New(refuse.Policy, "No table is protected for the entity %q.", cut(name)).
				With("Known entities: %s.", listed(known))
		}
		return name, true, nil
	}
	name, err := tableName(ctx, text)
	if err != nil {
		return "", false, err
	}
	p := s.Table(name)
	if p.Account == "" {
		return "", false, refuse.New(refuse.Policy, "The table %s is not protected, so nothing is spent on it.", cut(name)).
			With("CALL dp_protect('%s', unit_column, entity) first, or name an entity as 'entity:NAME'.", cut(name))
	}
	return p.Account, false, nil
}

func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// principal reads and checks the principal of a new budget.
func (a *Admin) principal(ctx *sql.Context, text string) (string, error) {
	p, ok := principalName(text)
	if !ok {
		return "", badPrincipal(text)
	}
	if p != accounting.All && p != accounting.Default && a.o.HasAccount != nil && !a.o.HasAccount(ctx, p) {
		return "", refuse.New(refuse.Policy, "There is no account %q.", cut(p)).
			With("Name an account as CREATE USER made it, for example 'ann@%%'; SELECT CURRENT_USER() shows an account its name.")
	}
	return p, nil
}

func badPrincipal(text string) error {
	return refuse.New(refuse.Policy, "%q is not a principal.", cut(text)).
		With("Use '*' for all principals together, 'default' for each without a budget of their own, or an account such as 'ann@%%'.")
}

// public turns what the ledger says about a bad value into a refusal. Other errors stay as they are.
func public(err error) error {
	if !errors.Is(err, accounting.ErrInvalid) {
		return err
	}
	text := strings.TrimPrefix(err.Error(), accounting.ErrInvalid.Error()+": ")
	return refuse.New(refuse.Policy, "Bad value: %s.", text).
		With("Use CALL dp_set_budget(table | 'entity:NAME', principal, epsilon, delta, 'never' | 'day' | 'week' | 'month').")
}

// entities gives the entity of each table account, as the ledger wants it for its bounds.
func entities(s *catalog.Snapshot) map[string]string {
	m := map[string]string{}
	for _, t := range s.All() {
		if t.Account != "" {
			m[t.Account] = t.Entity
		}
	}
	return m
}

package admin

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/catalog"
)

// policy is a procedure with n arguments that returns no rows, and sets a policy on the table that
// the first one names. Tables of collections have no policy but being public.
func policy(n int, p Procedure, f func(a *Admin, ctx *sql.Context, table string, args []string) error) procedure {
	return policyUpTo(n, n, p, f)
}

// policyUpTo is policy with from n to most arguments.
func policyUpTo(n, most int, p Procedure, f func(a *Admin, ctx *sql.Context, table string, args []string) error) procedure {
	return procedure{Procedure: p, min: n, max: most, run: quiet(func(a *Admin, ctx *sql.Context, args []string) error {
		t, err := tableName(ctx, args[0])
		if err == nil {
			err = a.notHeld(t)
		}
		if err != nil {
			return err
		}
		return f(a, ctx, t, args[1:])
	})}
}

func (a *Admin) protect(ctx *sql.Context, table string, args []string) error {
	unit, entity := columnName(args[0]), strings.TrimSpace(args[1])
	if len(args) < 3 {
		return a.o.Catalog.Protect(a.o.Schema(ctx), table, unit, entity)
	}
	p, err := catalog.ParsePeriod(args[2])
	if err != nil {
		return err
	}
	p.Of = columnName(p.Of)
	return a.o.Catalog.ProtectPeriods(a.o.Schema(ctx), table, unit, entity, p)
}

func (a *Admin) unprotect(_ *sql.Context, table string, _ []string) error {
	return a.o.Catalog.Unprotect(table)
}

func (a *Admin) public(ctx *sql.Context, args []string) error {
	t, err := tableName(ctx, args[0])
	if err != nil {
		return err
	}
	return a.o.Catalog.Public(a.o.Schema(ctx), t)
}

func (a *Admin) link(ctx *sql.Context, child string, args []string) error {
	parent, err := tableName(ctx, args[1])
	if err != nil {
		return err
	}
	return a.o.Catalog.Link(a.o.Schema(ctx), child, columnName(args[0]), parent, columnName(args[2]))
}

func (a *Admin) setDomain(ctx *sql.Context, table string, args []string) error {
	return a.o.Catalog.SetDomain(a.o.Schema(ctx), ctx.GetCurrentDatabase(), table, columnName(args[0]), args[1])
}

func (a *Admin) setScale(ctx *sql.Context, table string, args []string) error {
	return a.o.Catalog.SetScale(a.o.Schema(ctx), table, columnName(args[0]), args[1])
}

func (a *Admin) setDefaults(ctx *sql.Context, table string, args []string) error {
	return a.o.Catalog.SetDefaults(a.o.Schema(ctx), table, args[0])
}

func (a *Admin) setNeighbours(_ *sql.Context, table string, args []string) error {
	return a.o.Catalog.SetNeighbours(table, strings.TrimSpace(args[0]))
}

func (a *Admin) setDisjoint(_ *sql.Context, args []string) error {
	return a.o.Catalog.SetDisjoint(strings.TrimSpace(args[0]), strings.TrimSpace(args[1]))
}

package admin

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
)

// policyTable resolves the name of a table that a policy is set on. Tables of collections have none but being public.
func (a *Admin) policyTable(ctx *sql.Context, text string) (string, error) {
	t, err := tableName(ctx, text)
	if err != nil {
		return "", err
	}
	return t, a.notHeld(t)
}

func (a *Admin) protect(ctx *sql.Context, args []string) error {
	t, err := a.policyTable(ctx, args[0])
	if err != nil {
		return err
	}
	return a.o.Catalog.Protect(a.o.Schema(ctx), t, columnName(args[1]), strings.TrimSpace(args[2]))
}

func (a *Admin) unprotect(ctx *sql.Context, args []string) error {
	t, err := a.policyTable(ctx, args[0])
	if err != nil {
		return err
	}
	return a.o.Catalog.Unprotect(t)
}

func (a *Admin) public(ctx *sql.Context, args []string) error {
	t, err := tableName(ctx, args[0])
	if err != nil {
		return err
	}
	return a.o.Catalog.Public(a.o.Schema(ctx), t)
}

func (a *Admin) link(ctx *sql.Context, args []string) error {
	child, err := a.policyTable(ctx, args[0])
	if err != nil {
		return err
	}
	parent, err := tableName(ctx, args[2])
	if err != nil {
		return err
	}
	return a.o.Catalog.Link(a.o.Schema(ctx), child, columnName(args[1]), parent, columnName(args[3]))
}

func (a *Admin) setDomain(ctx *sql.Context, args []string) error {
	t, err := a.policyTable(ctx, args[0])
	if err != nil {
		return err
	}
	return a.o.Catalog.SetDomain(a.o.Schema(ctx), ctx.GetCurrentDatabase(), t, columnName(args[1]), args[2])
}

func (a *Admin) setScale(ctx *sql.Context, args []string) error {
	t, err := a.policyTable(ctx, args[0])
	if err != nil {
		return err
	}
	return a.o.Catalog.SetScale(a.o.Schema(ctx), t, columnName(args[1]), args[2])
}

func (a *Admin) setDefaults(ctx *sql.Context, args []string) error {
	t, err := a.policyTable(ctx, args[0])
	if err != nil {
		return err
	}
	return a.o.Catalog.SetDefaults(a.o.Schema(ctx), t, args[1])
}

func (a *Admin) setNeighbours(ctx *sql.Context, args []string) error {
	t, err := a.policyTable(ctx, args[0])
	if err != nil {
		return err
	}
	return a.o.Catalog.SetNeighbours(t, strings.TrimSpace(args[1]))
}

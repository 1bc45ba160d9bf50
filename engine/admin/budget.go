package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting"
	"scrim/accounting/budget"
	"scrim/accounting/privacy"
	"scrim/catalog"
	"scrim/internal/refuse"
)

// entityPrefix marks the target of a budget as an entity.
const entityPrefix = "entity:"

// setBudget sets a budget as a whole: target, principal, limit, delta, window, and perhaps why
// and a JSON object with the kind of account. It answers with how many questions that is.
func (a *Admin) setBudget(ctx *sql.Context, args []string) ([]sql.Row, error) {
	b, err := a.holder(ctx, args[0], args[1])
	if err != nil {
		return nil, err
	}
	if b.Epsilon, b.Rho, err = limit(args[2]); err != nil {
		return nil, err
	}
	if b.Delta, err = delta(args[3]); err != nil {
		return nil, err
	}
	b.Window = window(args[4])
	if text := optional(args, 6); text != "" {
		options, err := parts(text)
		if err != nil {
			return nil, err
		}
		for _, key := range slices.Sorted(maps.Keys(options)) {
			if key != accountPart {
				return nil, refuse.New(refuse.Policy, "%q is no option of a budget.", cut(key)).
					With(`Write '{"account": "gaussian"}' or '{"account": "zcdp"}'.`)
			}
			if b.Gaussian, err = gaussian(options[key]); err != nil {
				return nil, err
			}
		}
	}
	if err := a.put(ctx, b, optional(args, 5)); err != nil {
		return nil, err
	}
	return a.questions(b), nil
}

// dropBudget removes a budget: target, principal and perhaps why.
func (a *Admin) dropBudget(ctx *sql.Context, args []string) error {
	b, err := a.known(ctx, args[0], args[1])
	if err != nil {
		return err
	}
	why, err := reason(optional(args, 2))
	if err != nil {
		return err
	}
	a.budgetsMu.Lock()
	defer a.budgetsMu.Unlock()
	all := a.o.Ledger.Budgets()
	if before := find(all, b.Account, b.Entity, b.Principal); before != nil && why == "" && loosensDropped(all, *before) {
		return wantsReason("Dropping this budget loosens a limit.", "dp_drop_budget(target, principal, reason)")
	}
	return public(a.o.Ledger.RemoveBudget(ctx, b.Account, b.Entity, b.Principal, a.o.Principal(ctx)))
}

// resetBudget lets a budget's spending start anew: target, principal, why.
func (a *Admin) resetBudget(ctx *sql.Context, args []string) error {
	b, err := a.known(ctx, args[0], args[1])
	if err != nil {
		return err
	}
	why, err := reason(args[2])
	if err != nil {
		return err
	}
	if why == "" {
		return wantsReason("A budget is refilled for a reason.", "dp_reset_budget(target, principal, reason)")
	}
	return public(a.o.Ledger.ResetBudget(ctx, b.Account, b.Entity, b.Principal, a.o.Principal(ctx), why))
}

// put sets a budget, unless it loosens a limit and nobody says why.
func (a *Admin) put(ctx *sql.Context, b budget.Budget, why string) (err error) {
	if b.Reason, err = reason(why); err != nil {
		return err
	}
	b.SetBy = a.o.Principal(ctx)
	if err := b.Check(); err != nil {
		return public(err)
	}
	a.budgetsMu.Lock()
	defer a.budgetsMu.Unlock()
	if b.Reason == "" && loosens(a.o.Ledger.Budgets(), b) {
		return wantsReason("This budget is looser than the one in its place.",
			"dp_set_budget(target, principal, epsilon, delta, window, reason) or dp_alter_budget(target, principal, json, reason)")
	}
	return public(a.o.Ledger.SetBudget(ctx, b))
}

// known returns a budget without limits for a target and a principal, who need not be there any
// more.
func (a *Admin) known(ctx *sql.Context, target, who string) (b budget.Budget, err error) {
	if b.Account, b.Entity, err = a.target(ctx, target); err != nil {
		return b, err
	}
	var ok bool
	if b.Principal, ok = principalName(who); !ok {
		return b, badPrincipal(who)
	}
	return b, nil
}

// holder returns a budget without limits for a target and a principal, an account or a role that is
// there.
func (a *Admin) holder(ctx *sql.Context, target, who string) (budget.Budget, error) {
	b, err := a.known(ctx, target, who)
	if err != nil {
		return b, err
	}
	return b, a.exists(ctx, b.Principal)
}

// target returns the account that a budget caps: an entity's name, or a table's account, which is
// the same for all names that the table ever had.
func (a *Admin) target(ctx *sql.Context, text string) (account string, entity bool, err error) {
	s := a.o.Catalog.Snapshot()
	t := strings.TrimSpace(text)
	if len(t) > len(entityPrefix) && strings.EqualFold(t[:len(entityPrefix)], entityPrefix) {
		name := strings.Join(strings.Fields(strings.ToLower(t[len(entityPrefix):])), " ")
		whole, persons := budget.OfPersons(name)
		if persons {
			name = whole
		}
		if known := s.Entities(); !slices.Contains(known, name) {
			return "", false, refuse.New(refuse.Policy, "No table is protected for the entity %q.", cut(name)).
				With("Known entities: %s.", listed(known))
		}
		if persons {
			if s.PeriodsOf(name) == "" {
				return "", false, refuse.New(refuse.Policy, "The unit of the entity %s is the whole person, over all time.", name).
					With("Set the budget of 'entity:%s', which caps that.", name)
			}
			name = budget.OverPeriods(name)
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

// exists refuses a role or an account that there is not.
func (a *Admin) exists(ctx *sql.Context, principal string) error {
	role, isRole := strings.CutPrefix(principal, budget.RolePrefix)
	switch {
	case principal == budget.All || principal == budget.Default:
	case isRole && a.o.HasRole != nil && !a.o.HasRole(ctx, role):
		return refuse.New(refuse.Policy, "There is no role %q.", cut(role)).
			With("Name a role as CREATE ROLE made it, for example 'role:analyst'; the case of letters counts.")
	case !isRole && a.o.HasAccount != nil && !a.o.HasAccount(ctx, principal):
		return refuse.New(refuse.Policy, "There is no account %q.", cut(principal)).
			With("Name an account as CREATE USER made it, for example 'ann@%%'; SELECT CURRENT_USER() shows an account its name.")
	}
	return nil
}

func badPrincipal(text string) error {
	return refuse.New(refuse.Policy, "%q is not a principal.", cut(text)).
		With("Use '*' for all principals together, 'default' for each without a budget of their own, 'role:NAME' for the members of a role together, or an account such as 'ann', which is 'ann@%%'.")
}

// public turns what the ledger says about a bad value into a refusal. Other errors stay as they
// are.
func public(err error) error {
	if !errors.Is(err, accounting.ErrInvalid) {
		return err
	}
	text := strings.TrimPrefix(err.Error(), accounting.ErrInvalid.Error()+": ")
	return refuse.New(refuse.Policy, "Bad value: %s.", text).
		With("Use CALL dp_set_budget(table | 'entity:NAME', principal, epsilon | 'rho=R', delta, 'never' | 'day' | 'week' | 'month').")
}

// entities gives the entities of each table account, as the ledger wants them for its bounds.
func entities(s *catalog.Snapshot) map[string][]string {
	m := map[string][]string{}
	for _, t := range s.All() {
		add := func(entity string) {
			if t.Account != "" && entity != "" && !slices.Contains(m[t.Account], entity) {
				m[t.Account] = append(m[t.Account], entity)
			}
		}
		add(t.Entity)
		for _, o := range t.Owners() {
			add(o.Entity)
		}
	}
	return m
}

// changeColumns are the columns of what dp_alter_budget returns.
var changeColumns = []column{text("part"), text("before"), text("after")}

// alterBudget changes parts of a budget: target, principal, a JSON object and perhaps why.
func (a *Admin) alterBudget(ctx *sql.Context, args []string) ([]sql.Row, error) {
	h, err := a.holder(ctx, args[0], args[1])
	if err != nil {
		return nil, err
	}
	change, err := parts(args[2])
	if err != nil {
		return nil, err
	}
	a.altering.Lock()
	defer a.altering.Unlock()
	before := find(a.o.Ledger.Budgets(), h.Account, h.Entity, h.Principal)
	if before == nil {
		return nil, refuse.New(refuse.Policy, "There is no budget of %q on %s.", cut(h.Principal), cut(h.Account)).
			With("CALL dp_set_budget(target, principal, epsilon | 'rho=R', delta, window) makes one.")
	}
	after, err := altered(*before, change)
	if err != nil {
		return nil, err
	}
	if err := a.put(ctx, after, optional(args, 3)); err != nil {
		return nil, err
	}
	return differences(*before, after), nil
}

// budgetParts are the keys of the JSON object.
const budgetParts = `of "epsilon", "rho", "delta", "window" and "account"`

// accountPart is the key of the kind of account.
const accountPart = "account"

// gaussian reads whether the kind of account is the Gaussian one.
func gaussian(value any) (bool, error) {
	switch value {
	case budget.GaussianAccount:
		return true, nil
	case budget.ZCDPAccount:
		return false, nil
	}
	return false, badPart(accountPart)
}

// parts reads the JSON object of what to change.
func parts(text string) (map[string]any, error) {
	var m map[string]any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&m); err != nil || d.More() || len(m) == 0 {
		return nil, refuse.New(refuse.Policy, "%q is no JSON object of parts of a budget.", cut(text)).
			With(`Write for example '{"epsilon": 2}', with some %s.`, budgetParts)
	}
	return m, nil
}

// altered returns a budget with some of its parts changed. A limit of one kind takes the place of
// that of the other.
func altered(b budget.Budget, change map[string]any) (budget.Budget, error) {
	if _, both := change["epsilon"]; both && change["rho"] != nil {
		return b, refuse.New(refuse.Policy, "A budget is stated in epsilon or in rho.").With("Name one of the two.")
	}
	for _, key := range slices.Sorted(maps.Keys(change)) {
		value := change[key]
		n, isNumber := value.(json.Number)
		w, isText := value.(string)
		switch {
		case key == "window" && isText:
			b.Window = window(w)
			continue
		case key == accountPart:
			var err error
			if b.Gaussian, err = gaussian(value); err != nil {
				return b, err
			}
			continue
		case key == "window" || !isNumber:
			return b, badPart(key)
		}
		f, err := number(key, n.String())
		if err != nil {
			return b, err
		}
		switch key {
		case "epsilon":
			b.Epsilon, b.Rho = privacy.Epsilon(f), 0
		case "rho":
			if b.Rho, err = rho(f); err != nil {
				return b, err
			}
			b.Epsilon = 0
		case "delta":
			b.Delta = privacy.Delta(f)
		default:
			return b, badPart(key)
		}
	}
	return b, nil
}

func badPart(key string) error {
	return refuse.New(refuse.Policy, "%q is no part of a budget, or has no such value.", cut(key)).
		With(`Name some %s; the window is 'never', 'day', 'week' or 'month', the account 'gaussian' or 'zcdp', and the others are numbers.`, budgetParts)
}

// differences lists what is not as it was.
func differences(before, after budget.Budget) []sql.Row {
	var rows []sql.Row
	b, a := budgetTexts(before), budgetTexts(after)
	for i, part := range []string{"epsilon", "rho", "delta", "window", accountPart} {
		if b[i] != a[i] {
			rows = append(rows, sql.Row{part, b[i], a[i]})
		}
	}
	return rows
}

// budgetTexts shows the parts of a budget, nil what it has not.
func budgetTexts(b budget.Budget) [5]any {
	t := [5]any{nil, nil, shortest(float64(b.Delta)), string(b.Window), b.Kind()}
	if b.Rho > 0 {
		t[1] = shortest(b.Rho.Float())
	} else {
		t[0] = shortest(float64(b.Epsilon))
	}
	return t
}

// questionColumns are the columns of what dp_set_budget returns.
var questionColumns = []column{count("questions"), text("answer")}

// periods words how often the windows start anew.
var periods = map[budget.Window]string{budget.Day: "a day", budget.Week: "a week", budget.Month: "a month", budget.Never: "in all"}

// questions tells what a budget that was just set means: how many statements at the default loss a
// window of it holds, whatever they ask, by the account's own composition. It returns no row where
// no default statement is known.
func (a *Admin) questions(h budget.Budget) []sql.Row {
	all := a.o.Ledger.Budgets()
	b, total := find(all, h.Account, h.Entity, h.Principal), find(all, h.Account, h.Entity, budget.All)
	if b == nil || a.o.DefaultLoss == nil {
		return nil
	}
	loss, ok := a.o.DefaultLoss(b.Account, b.Entity, b.IsPure() || total.IsPure())
	if !ok {
		return nil
	}
	n := capacity(b, loss)
	answer := fmt.Sprintf("about %d questions %s at the default loss", n, periods[b.Window])
	if loss.Pure > 0 {
		answer += fmt.Sprintf(" (pure epsilon %s)", shortest(loss.Pure.Float()))
	} else {
		answer += fmt.Sprintf(" (rho %.3g)", loss.Rho.Float())
	}
	if b.Principal == budget.Default {
		answer += ", for each account without a budget of its own"
	}
	if plain := capacity(b, privacy.Loss{Rho: loss.Rho, Pure: loss.Pure}); plain > n {
		answer += fmt.Sprintf("; %d of them where no group keys are private: a larger delta admits more of the others", plain)
	}
	return []sql.Row{{int64(n), answer}}
}

// capacity is how many charges of a loss a window of a budget holds.
func capacity(b *budget.Budget, loss privacy.Loss) int {
	return b.Holds(new(privacy.Amount), b.Typical(loss))
}

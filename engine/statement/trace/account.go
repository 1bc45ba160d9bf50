package trace

import (
	"context"

	"scrim/accounting"
	"scrim/engine/exec"
)

// NotingAccount is an account that notes what is charged in the trace.
type NotingAccount struct{ exec.Account }

// Reserve implements exec.Account.
func (a NotingAccount) Reserve(ctx context.Context, r accounting.Request) (accounting.Receipt, error) {
	t := Of(ctx)
	defer t.Step("reserve")()
	receipt, err := a.Account.Reserve(ctx, r)
	if err == nil {
		t.Charge(receipt.ID)
	}
	return receipt, err
}

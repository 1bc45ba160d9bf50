package store

import "context"

type accountKey struct{}

// ForAccount returns a context whose statements are an account's. Where statements have to wait,
// accounts take turns.
func ForAccount(ctx context.Context, account string) context.Context {
	return context.WithValue(ctx, accountKey{}, account)
}

// AccountOf is the account whose statements run in ctx, "" for the server's own.
func AccountOf(ctx context.Context) string {
	account, _ := ctx.Value(accountKey{}).(string)
	return account
}

// Package lower translates bound MySQL expressions into the store's SQL.
package lower

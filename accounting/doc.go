// Package accounting keeps the privacy account.
package accounting

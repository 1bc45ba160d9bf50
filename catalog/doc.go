// Package catalog keeps the policies.
package catalog

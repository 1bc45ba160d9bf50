// Package durable writes files that are there, whole, after a crash at any moment, or not at all,
// and locks files between processes.
//
// A name is durable when its directory was synced after the change (SyncDir); Rename, Create and
// Replace do that. Windows keeps names in its file system's journal.
package durable

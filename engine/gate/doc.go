// Package gate says who may do what: which statements a client may send, which tables an account
// may read and change, and how many connections it may have. A statement passes it five times:
//
//	parsed    Confine: what the account that contributors share is there for; CheckRename
//	names     Function: functions that stall, lock or read files
//	bound     Rule: files, settings, programs that run later, ways around the grants
//	tables    Access: policies, and the tables of collections
//	run       NoFiles
package gate

package accounting

import "strings"

// How an operator gets out of it: the end of every error about a file that cannot be used.
const (
	repairDamaged = "Nothing was changed. Restore the data directory from a backup; charges made since " +
		"that backup are then unknown, so lower the budgets by what may have been spent"
	repairMissing = "The data directory is not new, so an empty ledger would forget what is spent. " +
		"Restore the file from a backup"
	repairForeign = "Put back the ledger that belongs to this data directory"
	repairVersion = "Use the version of the program that wrote it, or a newer one"
	repairNewer   = "It was made by a newer version of scrim, and is not damaged. " + repairVersion
	repairOldForm = "This program reads that format no longer: nothing in it says that it was not changed. Go on with the program that " +
		"wrote it, or import the rows into a new data directory, with budgets lower by what that program shows as spent"
	repairLocked = "Stop the other process, or use another data directory"
	repairFound  = "The server charges and answers nothing more. Stop it and look at the disk. Its next start reads the whole ledger: it " +
		"refuses one that is damaged. Then restore the data directory from a backup; charges made since that backup are unknown, so lower " +
		"the budgets by what may have been spent"
	repairKey = "Put back the key file that was made with the ledger, from a backup; without it nobody can tell whether the ledger was changed. If that is the one, the ledger is damaged: put back both"
)

// versionRepair is how to get out of a ledger in a format that is not ours.
func versionRepair(format string) string {
	switch {
	case format == "scrim ledger 1", format == "scrim ledger 2":
		return repairOldForm
	case strings.HasPrefix(format, "scrim ledger "):
		return repairNewer
	}
	return repairVersion
}

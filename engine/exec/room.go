package exec

import "errors"

// room is what is left of the memory that one release may take. Running out of it depends on the
// rows, and ends like every other failure after the charge; without a bound the process would end.
type room struct{ left int64 }

var errNoRoom = errors.New("exec: the release's numbers do not fit into the memory that it may take")

func (r *room) take(bytes int64) error {
	if r.left -= bytes; r.left < 0 {
		return errNoRoom
	}
	return nil
}

// give gives back what was taken.
func (r *room) give(bytes int64) { r.left += bytes }

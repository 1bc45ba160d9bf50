package private

import (
	"syscall"
	"time"
)

// times are those of several runs: by the clock, and of the processor.
type times struct{ clock, worked []time.Duration }

// take does something and notes its times.
func (t *times) take(do func() error) error {
	worked, err := processor()
	if err != nil {
		return err
	}
	begun := time.Now()
	if err := do(); err != nil {
		return err
	}
	t.clock = append(t.clock, time.Since(begun))
	after, err := processor()
	t.worked = append(t.worked, after-worked)
	return err
}

// processor is the processor time that this process has taken, the server and its store included.
// Unlike the time by the clock it says how long an answer takes where other programs run beside.
func processor() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, err
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}

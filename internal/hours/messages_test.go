package hours

import (
	"fmt"
	"regexp"
)

// messages are what somebody has read: what a message says, and the words by which it names the
// next step. Those without such words report, and leave nothing to do.
var messages = []struct{ says, next string }{}

// reviewed is nil for a message that has been read, and still names its next step.
func reviewed(line string) error {
	if line == "" {
		return nil
	}
	for _, m := range messages {
		if !regexp.MustCompile(m.says).MatchString(line) {
			continue
		}
		if !regexp.MustCompile(m.next).MatchString(line) {
			return fmt.Errorf("meets a message that does not say what to do, by %q: %s", m.next, line)
		}
		return nil
	}
	return fmt.Errorf("meets a message that nobody has read; does it say what to do next? %s", line)
}

package admin

import (
	"strconv"
	"strings"

	"scrim/engine/collect"
)

// ProtocolReference returns the Markdown table of the protocols of collections and their parameters, which docs/collections.md holds.
func ProtocolReference() string {
	var b strings.Builder
	b.WriteString("| protocol | model | rounds | estimates | parameters |\n| --- | --- | --- | --- | --- |\n")
	for _, p := range collect.Protocols {
		b.WriteString("| `" + string(p.Protocol) + "` | " + strings.ToLower(string(p.Model)) + " | " + strconv.Itoa(p.Rounds) + " | " + p.For +
			" | `" + strings.Join(collect.Keys(p.Protocol), "` `") + "` |\n")
	}
	return b.String()
}

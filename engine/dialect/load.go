package dialect

func init() { heads["LOAD"] = load }

// load leaves LOW_PRIORITY and CONCURRENT out of LOAD DATA: nobody waits for readers here.
func load(s *statement) {
	if s.is(1, "DATA") && s.is(2, "LOW_PRIORITY", "CONCURRENT") {
		s.drop(2, 2)
	}
}

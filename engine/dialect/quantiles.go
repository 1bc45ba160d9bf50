package dialect

func init() {
	for _, name := range []string{"MEDIAN", "PERCENTILE_CONT", "PERCENTILE_DISC"} {
		words[name] = ordered
	}
}

// ordered takes WITHIN GROUP (…) and OVER (…) away from a quantile of other servers, F(…): the
// grammar has neither there, and the binder refuses the function by its name.
func ordered(s *statement, i int) {
	if !s.is(i+1, "(") {
		return
	}
	last := s.close(i + 1)
	if s.are(last+1, "WITHIN", "GROUP", "(") {
		end := s.close(last + 3)
		if s.ends(end) {
			return
		}
		s.drop(last+1, end)
		last = end
	}
	if s.are(last+1, "OVER", "(") {
		if end := s.close(last + 2); !s.ends(end) {
			s.drop(last+1, end)
		}
	}
}

package dialect

func init() { words["BINARY"] = binary }

// binary takes the word as the value of a variable, as mysqlimport sets character_set_database.
// Before a value it is an operator, and stays.
func binary(s *statement, i int) {
	if s.is(0, "SET") && s.is(i-1, "=") && (s.ends(i+1) || s.is(i+1, ",", ";")) {
		s.replace(i, i, "'binary'")
	}
}

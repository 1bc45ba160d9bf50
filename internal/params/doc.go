// Package params is the one table of the privacy parameters: what each is called, which values it
// takes, where it may be set, and what it means.
//
//	SET dp_epsilon = 0.5                      a session variable    Session
//	SELECT /*+ SET_VAR(dp_epsilon=0.5) */ …   a hint                Hint
//	CALL dp_set_defaults(t, '{"dp_epsilon"…   a table's default     Default
//	DP_MEAN(x, 'epsilon=0.5')                 an option of a call   Option
//
// Each of the four doors reads a value in its own syntax and asks the parameter whether it is one
// (Parameter.Number, Parameter.Word). What has passed a door is a Value.
package params

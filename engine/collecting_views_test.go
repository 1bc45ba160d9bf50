package engine

import "testing"

// TestNoCollectionUnderAView: a view of the same name would be read in the place of the reports.
func TestNoCollectionUnderAView(t *testing.T) {
	i := start(t, "")
	root := i.root()
	const declared = `, 'LDP_BIT', '{"epsilon": 2, "lo": 0, "hi": 100, "n_expected": 2000}')`
	root.exec("CREATE DATABASE survey", "CREATE VIEW survey.answers AS SELECT 1 AS x")
	root.refused(1644, "45D11", "CALL dp_create_collection('survey.Answers'"+declared)
	root.refused(1644, "45D11", "CALL dp_create_collection('nowhere.answers'"+declared)
	root.exec("DROP VIEW survey.answers")
	root.query("CALL dp_create_collection('survey.answers'" + declared)
	if got := root.value("SELECT COUNT(*) FROM survey.answers"); got != "0" {
		t.Errorf("the collection's table has %s rows", got)
	}
}

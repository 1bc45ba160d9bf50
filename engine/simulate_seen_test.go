package engine

import "testing"

// TestSimulationsAreOnesOwn: what a collector simulated over a table tells of it, and others may
// not be allowed to read that.
func TestSimulationsAreOnesOwn(t *testing.T) {
	i, root := simulated(t)
	for _, name := range []string{"carl", "cora"} {
		root.exec("CREATE USER "+name+" IDENTIFIED BY 'pw'", "GRANT collector TO "+name, "GRANT SELECT ON dp.* TO "+name)
	}
	root.exec("GRANT SELECT ON shop.* TO carl")
	carl, cora := i.client("carl", "pw"), i.client("cora", "pw")
	carl.query("CALL dp_simulate_collection('commute', 'SELECT minutes FROM shop.people', 500, 1)")
	carl.query("CALL dp_simulate_collection('commute', 'SELECT minutes FROM shop.sample', 500, 2)")
	for _, c := range []struct {
		who  string
		of   *client
		want string
	}{{"the one who asked", carl, "3"}, {"another collector", cora, "0"}, {"a DBA", root, "3"}} {
		if got := c.of.value("SELECT COUNT(*) FROM dp.collection_sim_results"); got != c.want {
			t.Errorf("%s sees %s runs, want %s", c.who, got, c.want)
		}
	}
}

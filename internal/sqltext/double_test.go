package sqltext

import (
	"testing"
)

// TestMySQLDoubles holds values that a MariaDB server printed.
func TestMySQLDoubles(t *testing.T) {
	for want, x := range map[string]float64{
		"100000000000000": 1e14, "1e15": 1e15, "1.5e15": 1.5e15, "1.2345678901234568e17": 123456789012345678,
		"1.25e20": 1.25e20, "0.0001": 1e-4, "0.000015": 1.5e-5, "0.000000123456": 1.23456e-7,
		"0.0000000000012345": 1.2345e-12, "0.000000000000001": 1e-15, "1e-16": 1e-16, "1234567.5": 1234567.5,
		"1e300": 1e300, "0": 0, "-1e-300": -1e-300, "-1.7976931348623157e308": -1.7976931348623157e308,
	} {
		if got := string(AppendDouble(nil, x, 64)); got != want {
			t.Errorf("%v: got %s, want %s", x, got, want)
		}
	}
	for want, x := range map[string]float64{"16777200": 16777216, "0.1": float64(float32(0.1)), "3.4e38": float64(float32(3.4e38)), "-1e-30": float64(float32(-1e-30)), "1.23457e20": float64(float32(1.234567e20)), "0": 0} {
		if got := string(AppendFloat(nil, x)); got != want {
			t.Errorf("FLOAT %v: got %s, want %s", x, got, want)
		}
	}
}

package standard

// #cgo LDFLAGS: -lm
// #include <math.h>
import "C"

import "math"

// library has the functions of one number of the C library, by their names in SQL. The store and
// MySQL compute with them; Go's differ in the last digit.
var library = map[string]func(float64) float64{
	"acos":  func(x float64) float64 { return float64(C.acos(C.double(x))) },
	"asin":  func(x float64) float64 { return float64(C.asin(C.double(x))) },
	"atan":  func(x float64) float64 { return float64(C.atan(C.double(x))) },
	"cos":   func(x float64) float64 { return float64(C.cos(C.double(x))) },
	"exp":   func(x float64) float64 { return float64(C.exp(C.double(x))) },
	"ln":    func(x float64) float64 { return float64(C.log(C.double(x))) },
	"log":   func(x float64) float64 { return float64(C.log(C.double(x))) },
	"log10": func(x float64) float64 { return float64(C.log10(C.double(x))) },
	"log2":  func(x float64) float64 { return float64(C.log(C.double(x))) / math.Ln2 },
	"sin":   func(x float64) float64 { return float64(C.sin(C.double(x))) },
	"tan":   func(x float64) float64 { return float64(C.tan(C.double(x))) },
}

// power is x to the power of y.
func power(x, y float64) float64 { return float64(C.pow(C.double(x), C.double(y))) }

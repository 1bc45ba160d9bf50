package cover

import "scrim/engine/estimator"

// Params are the public facts of the estimator. Epsilon > 0, Relation ReplaceOne and Sized are needed; Rho is not used.
type Params struct {
	estimator.Params
	Dim     int     // 1 or 2
	Persons int64   // the public number of persons
	Error   float64 // α: the error aimed at, in values; 0: chosen from public facts
	Moment  float64 // k >= 2; 0: 4
	Radius  float64 // R: the mean's coordinates are within ±R, in values; 0: the public range
	Sigma   float64 // σ_k: bound on the k-th root of a row's k-th central moment in any direction, in values; > 0
	Rows    float64 // m: least number of rows of a person; 0: 1
}

// Package friendly estimates means of vectors from fewer persons than a private centre needs: persons who are near too few others are
// left out [TCK22], the rest are averaged, and the noise has the shape of the coordinates' spreads [DJY24].
package friendly

package synthetic

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"strconv"

	"scrim/engine/estimator"
	"scrim/engine/estimator/cube"
	"scrim/testdata"
)

// ranges are the public ranges of the columns that are numbers.
var ranges = map[string][2]float64{"age": {17, 91}, "fnlwgt": {0, 1500000}, "capital_gain": {0, 100000}, "capital_loss": {0, 4400}, "hr_per_week": {1, 100}}

// Adult reads the 30,162 persons of testdata's adult in its 15 columns, numbers in so many bins.
func Adult(bins int) (columns []cube.Dimension, persons *estimator.Block, err error) {
	file, err := testdata.Files.Open("adult.csv.gz")
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return nil, nil, err
	}
	records, err := csv.NewReader(unzipped).ReadAll()
	if err != nil {
		return nil, nil, err
	}
	names, records := records[0], records[1:]
	block := &estimator.Block{Dim: len(names), Chunks: []estimator.Chunk{{Persons: len(records), Dense: make([]int64, len(records)*len(names))}}}
	for j, name := range names {
		code, size := numbered(), func(known int) int { return known }
		if r, ok := ranges[name]; ok {
			code, size = binned(r, bins), func(int) int { return bins }
		}
		most := 0
		for i, record := range records {
			c, err := code(record[j])
			if err != nil {
				return nil, nil, fmt.Errorf("adult: %s: %w", name, err)
			}
			block.Chunks[0].Dense[i*len(names)+j] = int64(c)
			most = max(most, c+1)
		}
		columns = append(columns, cube.Dimension{Name: name, Size: size(most)})
	}
	return columns, block, nil
}

// numbered numbers texts as they come.
func numbered() func(string) (int, error) {
	seen := map[string]int{}
	return func(s string) (int, error) {
		if _, ok := seen[s]; !ok {
			seen[s] = len(seen)
		}
		return seen[s], nil
	}
}

// binned numbers the bins of a range.
func binned(r [2]float64, bins int) func(string) (int, error) {
	return func(s string) (int, error) {
		x, err := strconv.ParseFloat(s, 64)
		return min(max(int(float64(bins)*(x-r[0])/(r[1]-r[0])), 0), bins-1), err
	}
}

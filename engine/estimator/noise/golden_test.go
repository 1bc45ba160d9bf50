package noise_test

// golden holds the first draws with σ² = 2^40 from the stream of counter.
var golden = [6]int64{-214638, 345239, 667402, -1884269, 979029, 138350}

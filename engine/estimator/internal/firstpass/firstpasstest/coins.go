package firstpasstest

// Coins returns the words from which firstpass.Toss makes these coins.
func Coins(coins []uint32) []uint64 {
	words := make([]uint64, (len(coins)+1)/2)
	for i, c := range coins {
		words[i/2] |= uint64(c) << (32 * (i % 2))
	}
	return words
}

// Kept returns the words by which these persons are kept, by coins of which so many sides keep.
func Kept(keep []bool, sides uint64) []uint64 {
	coins := make([]uint32, len(keep))
	for i, k := range keep {
		coins[i] = uint32(sides)
		if k {
			coins[i]--
		}
	}
	return Coins(coins)
}

package spill

import "os"

// zeros writes n zero bytes from at on, where the file system reserves blocks by writing alone.
func zeros(f *os.File, at, n int64) error {
	page := make([]byte, min(n, 1<<20))
	for n > 0 {
		k, err := f.WriteAt(page[:min(n, int64(len(page)))], at)
		if err != nil {
			return err
		}
		at, n = at+int64(k), n-int64(k)
	}
	return nil
}

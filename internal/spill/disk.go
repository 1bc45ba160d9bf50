package spill

// Disk is the file system of a directory that is spilled to.
type Disk struct {
	Dir string
	// Reserve is how many bytes are to stay free; 0: 1 GiB, or one part in 20 of a small disk.
	Reserve int64
}

const (
	mostReserved  = 1 << 30
	reservedShare = 20
)

// Free returns the bytes that are free for this process, and those that are to stay free.
func (d Disk) Free() (free, reserve int64, err error) {
	free, size, err := fileSystem(d.Dir)
	if err != nil {
		return 0, 0, err
	}
	if reserve = d.Reserve; reserve <= 0 {
		reserve = min(mostReserved, size/reservedShare)
	}
	return free, reserve, nil
}

// Room returns the bytes that may be spilled. An eighth of the reserve more than that stays free,
// so that spilling alone never brings the disk to where less than the reserve is: what one piece of
// work spills is not told to the next.
func (d Disk) Room() (int64, error) {
	free, reserve, err := d.Free()
	return max(0, free-reserve-reserve/8), err
}

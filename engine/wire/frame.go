package wire

// frame follows the packets of the command phase and caps what one command may hold: the protocol
// implementation joins packets of the maximal size without a limit of its own.
type frame struct {
	limit  int
	header [headerSize]byte
	have   int // bytes of the header seen
	left   int // bytes of the payload still to come
	total  int // payload bytes of the command as announced so far
	at     int // payload bytes of the command seen
	joined bool

	command byte
	start   start
	long    longData
}

// admit follows p and adapts the commands in it; false when a command announces more than the limit.
func (f *frame) admit(p []byte) bool {
	for len(p) > 0 {
		if f.left > 0 {
			n := min(f.left, len(p))
			f.adapt(p[:n])
			f.left -= n
			f.at += n
			p = p[n:]
			continue
		}
		n := copy(f.header[f.have:], p)
		f.have += n
		p = p[n:]
		if f.have < headerSize {
			return true
		}
		f.have = 0
		f.left = payloadLength(f.header[:])
		if !f.joined {
			f.total, f.at = 0, 0
		}
		f.total += f.left
		if f.joined && f.command == comStmtSendLongData {
			f.long.add(f.start, f.left)
		}
		f.joined = f.left == maxPayload
		if f.total > f.limit || f.long.total > f.limit {
			return false
		}
	}
	return f.long.total <= f.limit
}

// Commands, and where COM_STMT_EXECUTE has its cursor flags: after the command and the statement's id.
const (
	comStatistics       = 0x09
	comStmtExecute      = 0x17
	comStmtSendLongData = 0x18
	comStmtClose        = 0x19
	comStmtReset        = 0x1a
	cursorFlags         = 5
)

// start is the command and, where there is one, the id of the prepared statement.
type start [cursorFlags]byte

// longData counts what the protocol implementation keeps of COM_STMT_SEND_LONG_DATA, by statement,
// until the statement is executed, reset or closed.
type longData struct {
	kept  map[start]int
	total int
}

func (l *longData) key(s start) start {
	s[0] = 0
	return s
}

func (l *longData) add(s start, n int) {
	if l.kept == nil {
		l.kept = map[start]int{}
	}
	l.kept[l.key(s)] += n
	l.total += n
}

func (l *longData) forget(s start) {
	l.total -= l.kept[l.key(s)]
	delete(l.kept, l.key(s))
}

// adapt follows and changes a part of a command's payload that begins f.at bytes into it. Cursors are
// not asked for: the server may always send a result whole, and the protocol implementation loses
// the error of a statement that runs under a cursor.
func (f *frame) adapt(part []byte) {
	if f.at == 0 {
		f.command = part[0]
	}
	if f.at < len(f.start) && copy(f.start[f.at:], part) == len(f.start)-f.at {
		switch f.command {
		case comStmtSendLongData:
			f.long.add(f.start, f.total)
		case comStmtExecute, comStmtReset, comStmtClose:
			f.long.forget(f.start)
		}
	}
	if i := cursorFlags - f.at; f.command == comStmtExecute && i >= 0 && i < len(part) {
		part[i] = 0
	}
}

// idle reports whether no command is on its way.
func (f *frame) idle() bool { return f.have == 0 && f.left == 0 && !f.joined }

// isStatistics reports whether p is the command COM_STATISTICS, whole and alone.
func isStatistics(p []byte) bool {
	return len(p) == headerSize+1 && payloadLength(p) == 1 && p[3] == 0 && p[headerSize] == comStatistics
}

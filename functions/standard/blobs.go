package standard

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"io"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

func init() {
	define(function{name: "uncompress", min: 1, max: 1, typ: types.LongBlob, eval: uncompress, doc: "gives back what COMPRESS has compressed."})
}

// MySQL's warnings of bytes that COMPRESS has not made.
const (
	tooBigToUncompress = 1256
	noRoomToUncompress = 1258
	corruptCompressed  = 1259
)

// lengthSize is how many bytes before the compressed ones tell the length, and lengthMask the bits
// of them that do.
const (
	lengthSize = 4
	lengthMask = 1<<30 - 1
)

// uncompress is UNCOMPRESS: what cannot be uncompressed is NULL, with a warning. Memory grows with
// what comes out, and not with the length that the bytes say.
func uncompress(ctx *sql.Context, args []any) (any, error) {
	b, ok := raw(ctx, args[0])
	if !ok || len(b) == 0 {
		return b, nil
	}
	if len(b) <= lengthSize {
		ctx.Warn(corruptCompressed, "ZLIB: Input data corrupted")
		return nil, nil
	}
	length := int64(binary.LittleEndian.Uint32(b) & lengthMask)
	if most := packet(ctx); length > most {
		ctx.Warn(tooBigToUncompress, "Uncompressed data size too large; the maximum size is %d (probably, length of uncompressed data was corrupted)", most)
		return nil, nil
	}
	out, err := inflate(b[lengthSize:], length)
	switch {
	case errors.Is(err, errNoRoom):
		ctx.Warn(noRoomToUncompress, "ZLIB: Not enough room in the output buffer (probably, length of uncompressed data was corrupted)")
		return nil, nil
	case err != nil:
		ctx.Warn(corruptCompressed, "ZLIB: Input data corrupted")
		return nil, nil
	}
	return out, nil
}

// errNoRoom is that more comes out of compressed bytes than they say.
var errNoRoom = errors.New("standard: no room to uncompress")

// inflate uncompresses bytes to at most so many.
func inflate(b []byte, most int64) ([]byte, error) {
	r, err := zlib.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	out, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(out)) > most {
		err = errNoRoom
	}
	return out, err
}

// raw reads a value as bytes.
func raw(ctx *sql.Context, v any) ([]byte, bool) {
	if b, ok := v.([]byte); ok {
		return b, true
	}
	s, ok := text(ctx, v)
	return []byte(s), ok
}

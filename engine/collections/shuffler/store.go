package shuffler

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"scrim/internal/durable"
)

// The buckets of shuffler.db. Numbers in keys and values are big-endian.
//
//	meta         "format"                  "scrim shuffler 1"
//	meta         "id"                      16 random bytes, by which contributors tell shufflers apart
//	collections  uuid                      JSON of collectionRecord
//	pins         place [11] of cell 0      canonical parameters
//	tokens       SHA-256(token) [32]       place [11], batch u32: the one that it reported to, 0 while it has not
//	issued       place [11]                tokens issued u64
//	batches      place [11], number u32    JSON of Record, of batches that are open no more
//	ended        place [11]                "": no bundles are taken any more
var (
	bucketMeta        = []byte("meta")
	bucketCollections = []byte("collections")
	bucketPins        = []byte("pins")
	bucketTokens      = []byte("tokens")
	bucketIssued      = []byte("issued")
	bucketBatches     = []byte("batches")
	bucketEnded       = []byte("ended")

	buckets = [][]byte{bucketMeta, bucketCollections, bucketPins, bucketTokens, bucketIssued, bucketBatches, bucketEnded}
)

const (
	format      = "scrim shuffler 1"
	fileStore   = "shuffler.db"
	batchesDir  = "batches"
	suffixStore = ".reports"
	suffixBag   = ".bag"
)

// ErrInUse is returned for a data directory that another process works with.
var ErrInUse = errors.New("shuffler: the data directory is in use by another process")

// openStore opens or makes shuffler.db.
func openStore(dir string) (*bolt.DB, error) {
	if err := os.MkdirAll(filepath.Join(dir, batchesDir), 0o700); err != nil {
		return nil, fmt.Errorf("shuffler: data directory: %w", err)
	}
	db, err := openBolt(filepath.Join(dir, fileStore))
	if err != nil {
		return nil, err
	}
	if err := db.Update(prepare); err != nil {
		db.Close()
		return nil, err
	}
	return db, durable.SyncDir(dir)
}

// openBolt opens a bbolt file, which is locked until it is closed.
func openBolt(path string) (*bolt.DB, error) {
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: time.Second, FreelistType: bolt.FreelistMapType})
	if errors.Is(err, berrors.ErrTimeout) {
		return nil, ErrInUse
	}
	if err != nil {
		return nil, fmt.Errorf("shuffler: %s: %w", path, err)
	}
	return db, nil
}

func prepare(tx *bolt.Tx) error {
	if meta := tx.Bucket(bucketMeta); meta != nil {
		if have := string(meta.Get([]byte("format"))); have != format {
			return fmt.Errorf("shuffler: the data directory has format %.40q, and this program knows %q", have, format)
		}
		return nil
	}
	for _, b := range buckets {
		if _, err := tx.CreateBucket(b); err != nil {
			return err
		}
	}
	id := make([]byte, 16)
	rand.Read(id) // never fails: it ends the program instead
	meta := tx.Bucket(bucketMeta)
	return errors.Join(meta.Put([]byte("format"), []byte(format)), meta.Put([]byte("id"), id))
}

// identity returns what a shuffler's contributors know it by, in hex. It is that of the data
// directory.
func identity(db *bolt.DB) (id string) {
	_ = db.View(func(tx *bolt.Tx) error { id = hex.EncodeToString(tx.Bucket(bucketMeta).Get([]byte("id"))); return nil })
	return id
}

// State is how far a batch is.
type State string

// The states of a batch.
const (
	Open         State = "OPEN"         // takes bundles
	Closed       State = "CLOSED"       // permuted, on disk
	Releasing    State = "RELEASING"    // parts may have been sent
	Acknowledged State = "ACKNOWLEDGED" // the server has it; bundles and bag are erased
	Refused      State = "REFUSED"      // the server will never take it; erased
	Destroyed    State = "DESTROYED"    // had too few reports; erased
)

// over tells whether nothing is left to do, or to keep.
func (s State) over() bool { return s == Acknowledged || s == Refused || s == Destroyed }

// Record is what is kept of a batch.
type Record struct {
	State    State  `json:"state"`
	Reports  uint64 `json:"reports"`
	Messages uint64 `json:"messages,omitempty"`
	Part     int    `json:"part,omitempty"` // messages of each part but the last
	Digest   []byte `json:"sha256,omitempty"`
	Note     string `json:"note,omitempty"` // of the server's refusal, or what was missing
}

// parts is into how many the bag is cut.
func (r Record) parts() int { return (int(r.Messages) + r.Part - 1) / r.Part }

func putJSON(b *bolt.Bucket, key []byte, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return b.Put(key, text)
}

func uint64At(b []byte) uint64 {
	if len(b) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(b)
}

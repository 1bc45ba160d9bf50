// Command app is the smallest app that contributes for the person who uses this device: it
// explains, asks, and reports once.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"scrim/engine/collections/contribute"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 5 {
		log.Fatal("usage: app DSN COLLECTION TOKEN VALUE")
	}
	if err := report(os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		log.Fatalf("%v (%s)", err, contribute.Code(err))
	}
}

func report(dsn, collection, tokenText, valueText string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	token, err := contribute.ParseToken(tokenText)
	if err != nil {
		return err
	}
	value, err := strconv.ParseFloat(valueText, 64)
	if err != nil {
		return err
	}
	db, err := connect(dsn)
	if err != nil {
		return err
	}
	defer db.Close()

	wallet, err := contribute.Open("") // the person's own, shared with scrim randomize
	if err != nil {
		return err
	}
	defer wallet.Close()
	params, err := contribute.FetchParams(ctx, db, collection, token) // verified, or an error
	if err != nil {
		return err
	}
	words, err := contribute.Explain(params, token.Cell)
	if err != nil {
		return err
	}
	fmt.Print(words, "Report? ")
	var answer string
	if _, _ = fmt.Scanln(&answer); !strings.EqualFold(answer, "yes") {
		return nil // asked before the value is looked at, so that the answer tells nothing of it
	}
	if _, err := wallet.Report(params, token, contribute.Number(value)); err != nil {
		return err // nothing was sent
	}
	if err := wallet.Send(ctx, db, params.UUID); err != nil {
		return err // kept: the next run sends the same bytes
	}
	fmt.Println("Thank you. Your reports have cost", wallet.Spent(), "of", wallet.Caps())
	return nil
}

// connect opens a pool that a server can neither keep busy without end nor take files through.
func connect(dsn string) (*sql.DB, error) {
	config, err := mysql.ParseDSN(dsn) // with tls=true, except on one machine
	if err != nil {
		return nil, err
	}
	config.AllowAllFiles = false
	config.Timeout, config.ReadTimeout = 15*time.Second, time.Minute
	config.DialFunc = contribute.LimitDial(nil, contribute.DialBytes)
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

package contribute_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"

	"scrim/engine/collections/contribute"
)

// An app opens the person's wallet, connects with the driver and the TLS of its choice, and
// contributes once. Run again, after a crash at any point, it goes on where it was, with the same
// bytes.
func Example() {
	ctx := context.Background()
	wallet, err := contribute.Open("") // of the person who uses this device
	if err != nil {
		log.Fatal(err)
	}
	defer wallet.Close()
	// go-sql-driver/mysql
	db, err := sql.Open("mysql", "contributor:password@tcp(survey.example.org:3307)/?tls=true")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	// from the issuer's mail
	token, err := contribute.ParseToken("9f86d081884c7d659a2feaa0c55ad015 1 0")
	if err != nil {
		log.Fatal(err)
	}

	params, err := contribute.FetchParams(ctx, db, "commute", token)
	if err != nil {
		log.Fatal(err) // nothing was made or sent
	}
	words, err := contribute.Explain(params, token.Cell)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(words) // ask the person now
	if _, err := wallet.Report(params, token, contribute.Number(37.5)); err != nil {
		log.Fatal(err) // nothing was sent; contribute.Code(err) names the reason
	}
	if err := wallet.Send(ctx, db, params.UUID); err != nil {
		log.Fatal(err) // the report is kept: Send again later
	}
}

// A wallet's caps are the person's own.
func ExampleWallet_SetCaps() {
	wallet := contribute.InMemory(contribute.DefaultCaps()) // an app would Open a file
	epsilon, _ := contribute.ParseEpsilon("2.5")
	delta, _ := contribute.ParseDelta("1e-7")
	if err := wallet.SetCaps(contribute.Caps{Epsilon: epsilon, Delta: delta}); err != nil {
		log.Fatal(err)
	}
	fmt.Println("may cost", wallet.Caps())
	fmt.Println("has cost", wallet.Spent())
	// Output:
	// may cost epsilon 2.5, delta 1e-7
	// has cost epsilon 0, delta 0
}

func ExampleParseToken() {
	token, err := contribute.ParseToken("9f86d081884c7d659a2feaa0c55ad015 2 5 north")
	fmt.Println(token.Round, token.Cell, token.Stratum, err)
	// Output:
	// 2 5 north <nil>
}

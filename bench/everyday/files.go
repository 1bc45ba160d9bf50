package everyday

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"scrim/bench/dataset"
	"scrim/testdata"
)

// fileTables lists the tables of public files. adult and visits ship with the program; the others
// are read from the directory of data files.
func fileTables() []*Table {
	return []*Table{
		{Name: "adult", Columns: "id BIGINT NOT NULL, age INT, type_employer VARCHAR(40), fnlwgt BIGINT, education VARCHAR(40), education_num INT, marital VARCHAR(40), " +
			"occupation VARCHAR(40), relationship VARCHAR(40), race VARCHAR(40), sex VARCHAR(10), capital_gain INT, capital_loss INT, hr_per_week INT, country VARCHAR(40), income VARCHAR(10)",
			Unit: "id", rows: numbered(shipped("adult.csv.gz")), Domains: [][2]string{
				{"sex", `["Female","Male"]`}, {"income", `["<=50K",">50K"]`},
				{"education", `["10th","11th","12th","1st-4th","5th-6th","7th-8th","9th","Assoc-acdm","Assoc-voc","Bachelors","Doctorate","HS-grad","Masters","Preschool","Prof-school","Some-college"]`}}},
		{Name: "visits", Columns: "visitor_id BIGINT NOT NULL, entered VARCHAR(10), minutes INT, spent INT, day INT", Unit: "visitor_id", rows: shipped("visits.csv.gz"),
			Domains: [][2]string{{"day", numbers(1, 7)}}},
		{Name: "ratings", Columns: "userId BIGINT NOT NULL, movieId INT NOT NULL, rating DECIMAL(2,1) NOT NULL, timestamp BIGINT NOT NULL, day DATE NOT NULL", Unit: "userId", file: true, rows: ratings, Needs: []string{"movies"},
			Domains: [][2]string{{"rating", "[0.5,1,1.5,2,2.5,3,3.5,4,4.5,5]"}, {"movieId", `{"table":"movies","column":"movieId"}`}, {"day", daysOf(2000)}}},
		{Name: "movies", Columns: "movieId INT PRIMARY KEY, title VARCHAR(200) NOT NULL, genres VARCHAR(120) NOT NULL", file: true, rows: lines("ml-latest-small", "movies.csv")},
		{Name: "people", Columns: "age INT, sex INT, educ INT, race INT, income INT, married INT, pid BIGINT NOT NULL", Unit: "pid", file: true, rows: lines("pums-pid", "PUMS_dup.csv"),
			Domains: [][2]string{{"married", "[0,1]"}, {"educ", numbers(1, 16)}}},
		{Name: "stays", Columns: "visitor_id BIGINT NOT NULL, entered VARCHAR(10), minutes INT, spent INT, day INT", Unit: "visitor_id", file: true, rows: lines("restaurant", "outliers_week_data.csv"),
			Domains: [][2]string{{"day", numbers(1, 7)}}},
		{Name: "items", Columns: "basket BIGINT NOT NULL, item INT NOT NULL, dept INT NOT NULL, price DECIMAL(8,2) NOT NULL, day DATE NOT NULL", Unit: "basket", file: true, rows: retail,
			Domains: [][2]string{{"dept", numbers(0, 16)}, {"day", days()}}},
		{Name: "views", Columns: "session BIGINT NOT NULL, page INT NOT NULL", Unit: "session", file: true, rows: clicks("bms-webview-1", "bms-webview-1.dat")},
		{Name: "news", Columns: "session BIGINT NOT NULL, story INT NOT NULL", Unit: "session", file: true, rows: clicks("kosarak-part", "kosarak-part.dat"),
			Domains: [][2]string{{"story", numbers(1, 1000)}}},
	}
}

// source writes the rows of a table.
type source = func(dir string, add func(...string) error) error

// shipped reads a CSV file that is part of the program.
func shipped(name string) source {
	return func(_ string, add func(...string) error) error {
		f, err := testdata.Files.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		b, err := dataset.Unzipped(f)
		if err != nil {
			return err
		}
		return records(b, add)
	}
}

// lines reads a CSV file of the data directory.
func lines(folder, name string) source {
	return func(dir string, add func(...string) error) error {
		b, err := dataset.File(dir, folder, name)
		if err != nil {
			return err
		}
		return records(b, add)
	}
}

// records hands out the lines of a CSV file but its head.
func records(b []byte, add func(...string) error) error {
	r := csv.NewReader(bytes.NewReader(b))
	for first := true; ; first = false {
		fields, err := r.Read()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case first:
		default:
			if err := add(fields...); err != nil {
				return err
			}
		}
	}
}

// numbered puts the number of the row before it.
func numbered(of source) source {
	return func(dir string, add func(...string) error) error {
		i := 0
		return of(dir, func(fields ...string) error {
			i++
			return add(slices.Insert(slices.Clone(fields), 0, strconv.Itoa(i))...)
		})
	}
}

// ratings adds to MovieLens' ratings the day of the time stamp, in UTC.
func ratings(dir string, add func(...string) error) error {
	return lines("ml-latest-small", "ratings.csv")(dir, func(fields ...string) error {
		at, err := strconv.ParseInt(fields[3], 10, 64)
		if err != nil {
			return err
		}
		return add(append(slices.Clone(fields), time.Unix(at, 0).UTC().Format(time.DateOnly))...)
	})
}

// retail gives each basket a day of 2025, more towards the end of the week and of the year, and
// each item a price that depends on its number alone, log-normal about 3.
func retail(dir string, add func(...string) error) error {
	days := seeded("retail days")
	var weights []float64
	sum := 0.0
	for i := range 365 {
		at := newYear.AddDate(0, 0, i)
		w := []float64{0.3, 0.9, 0.9, 1, 1.1, 1.5, 1.7}[at.Weekday()] * (1 + 0.15*math.Sin(2*math.Pi*float64(i)/365-2))
		if at.Month() == time.December && at.Day() > 14 && at.Day() < 25 {
			w *= 1.6
		}
		sum += w
		weights = append(weights, sum)
	}
	prices := map[int]string{}
	return baskets(dir, "retail", "retail.dat", func(basket int, list []int) error {
		day, _ := slices.BinarySearch(weights, days.Float64()*sum)
		for _, item := range list {
			if prices[item] == "" {
				prices[item] = strconv.FormatFloat(3*math.Exp(0.8*seeded("price "+strconv.Itoa(item)).NormFloat64()), 'f', 2, 64)
			}
			if err := add(strconv.Itoa(basket), strconv.Itoa(item), strconv.Itoa(item/1000), prices[item], dayOf(min(day, 364))); err != nil {
				return err
			}
		}
		return nil
	})
}

// clicks has a row for each session and page.
func clicks(folder, name string) source {
	return func(dir string, add func(...string) error) error {
		return baskets(dir, folder, name, func(session int, list []int) error {
			for _, page := range list {
				if err := add(strconv.Itoa(session), strconv.Itoa(page)); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// baskets hands out the lines of a file in FIMI form, numbered from 1, with what is in them twice
// once.
func baskets(dir, folder, name string, add func(i int, items []int) error) error {
	b, err := dataset.File(dir, folder, name)
	if err != nil {
		return err
	}
	i := 0
	for line := range strings.Lines(string(b)) {
		i++
		var items []int
		for f := range strings.FieldsSeq(line) {
			x, err := strconv.Atoi(f)
			if err != nil {
				return fmt.Errorf("%s: line %d: %w", name, i, err)
			}
			items = append(items, x)
		}
		slices.Sort(items)
		if err := add(i, slices.Compact(items)); err != nil {
			return err
		}
	}
	return nil
}

// daysOf is the domain of the days of a year.
func daysOf(year int) string {
	var list []string
	for at := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() == year; at = at.AddDate(0, 0, 1) {
		list = append(list, at.Format(time.DateOnly))
	}
	return domain(list)
}

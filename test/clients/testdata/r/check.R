suppressPackageStartupMessages({
  library(DBI)
  library(dplyr)
  library(dbplyr)
})
env <- function(name) Sys.getenv(paste0("SCRIM_", name))
group <- "SELECT dept, AVG(amount) AS a, COUNT(*) AS n FROM people GROUP BY dept ORDER BY dept"
title <- "Zoë — 日本 😀"

check <- function(name, f) {
  v <- tryCatch(f(), error = function(e) paste("failed:", conditionMessage(e)))
  cat(name, "\t", jsonlite::toJSON(v, auto_unbox = TRUE, digits = NA), "\n", sep = "")
}
refused <- function(f) tryCatch({ f(); "failed: it was answered" }, error = conditionMessage)
# rows turns a frame into a list of unnamed rows.
rows <- function(d) lapply(seq_len(nrow(d)), function(i) unname(as.list(d[i, , drop = FALSE])))

db <- dbConnect(RMySQL::MySQL(), host = env("HOST"), port = as.integer(env("PORT")), user = env("USER"),
                password = env("PASSWORD"), dbname = env("DB"))
invisible(dbExecute(db, "SET NAMES utf8mb4"))
ask <- function(sql) suppressWarnings(dbGetQuery(db, sql))
utf8 <- function(x) { Encoding(x) <- "UTF-8"; x }

check("connect", function() dbGetInfo(db)$serverVersion)
check("list", function() as.list(dbListTables(db)))
check("describe", function() rows(ask("DESCRIBE people")[, 1:2]))
check("group", function() rows(ask(group)))
check("public", function() rows(ask("SELECT id, price FROM products WHERE id <= 3 ORDER BY id")))
check("prepared", function() {
  dbExecute(db, "PREPARE cheap FROM 'SELECT id, price FROM products WHERE id <= ? ORDER BY id'")
  dbExecute(db, "SET @n = 3")
  d <- ask("EXECUTE cheap USING @n")
  dbExecute(db, "DEALLOCATE PREPARE cheap")
  rows(d)
})
check("text", function() utf8(ask(sqlInterpolate(db, "SELECT title FROM products WHERE title = ?t", t = title))$title))
check("error", function() refused(function() ask("SELECT * FROM people")))

people <- function() tbl(db, "people")
check("extra:dbListFields", function() identical(dbListFields(db, "people"), c("id", "name", "dept", "age", "amount", "joined")))
check("extra:dbReadTable of a public table", function() nrow(suppressWarnings(dbReadTable(db, "products"))) == 1000)
check("extra:dbReadTable refused on the protected table", function() grepl("ggregate", refused(function() dbReadTable(db, "people"))))
check("extra:dbplyr, table and its columns", function() identical(colnames(people()), c("id", "name", "dept", "age", "amount", "joined")))
check("extra:dbplyr, group_by and summarise", function() {
  d <- suppressWarnings(people() %>% filter(age > 30) %>% group_by(dept) %>%
    summarise(a = mean(amount, na.rm = TRUE), n = n()) %>% arrange(dept) %>% collect())
  nrow(d) == 4 && identical(d$dept, c("care", "law", "sales", "tech")) && all(d$a > 10 & d$a < 90)
})
check("extra:dbplyr, count and mutate", function() {
  d <- suppressWarnings(people() %>% count(dept) %>% mutate(share = n / 4000) %>% collect())
  nrow(d) == 4 && abs(sum(d$share) - 1) < 0.1
})
check("extra:dbplyr, join with a public table", function() {
  d <- suppressWarnings(people() %>% inner_join(tbl(db, "products"), by = "id") %>% summarise(n = n()) %>% collect())
  abs(d$n - 1000) < 50
})
check("extra:dbplyr, head of the protected table refused", function() grepl("ggregate", refused(function() people() %>% head(5) %>% collect())))
check("extra:dbExistsTable", function() dbExistsTable(db, "products") && !dbExistsTable(db, "nothing"))
check("extra:this repository's package, its own tests", function() {
  lib <- file.path(getwd(), "lib")
  dir.create(lib)
  run <- function(program, ...) system2(file.path(R.home("bin"), program), c(...), stdout = TRUE, stderr = TRUE)
  said <- run("R", "CMD", "INSTALL", "--no-test-load", "-l", lib, file.path(env("MODULE"), "r"))
  Sys.setenv(R_LIBS = lib)
  said <- c(said, run("Rscript", file.path(env("MODULE"), "r", "tests", "tests.R")))
  if (identical(tail(said, 1), "ok")) TRUE else { writeLines(said); "failed: see above" }
})
invisible(dbDisconnect(db))

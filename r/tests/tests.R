# The package's tests, over the data set of test/clients, which runs them as part of the client
# "r": a server at SCRIM_HOST and SCRIM_PORT, the account SCRIM_USER and SCRIM_PASSWORD.
library(scrim)
env <- function(name) Sys.getenv(paste0("SCRIM_", name))
con <- DBI::dbConnect(RMySQL::MySQL(), host = env("HOST"), port = as.integer(env("PORT")), user = env("USER"),
                      password = env("PASSWORD"), dbname = env("DB"))
want <- function(...) stopifnot(...)

# told gives the value and the classes and codes of warnings.
told <- function(f) {
  codes <- character()
  value <- withCallingHandlers(f(), scrim_warning = function(w) {
    codes <<- c(codes, w$code)
    invokeRestart("muffleWarning")
  })
  list(value = value, codes = codes)
}
refused <- function(f) tryCatch({ f(); "answered" }, error = conditionMessage)

# Select lists are read as by the server's own clients.
cases <- jsonlite::fromJSON(file.path(env("MODULE"), "internal/client/testdata/select.json"), simplifyVector = FALSE)
want(length(cases) > 10)
for (case in cases) {
  s <- scrim:::parse_select(case$query)
  want(identical(s$items, unlist(case$items)))
  if (!is.null(s)) want(scrim:::with_intervals(s, unlist(case$with) + 1) == case$extended)
}

sql <- "SELECT dept, COUNT(*) AS n, AVG(amount) AS a FROM people GROUP BY dept ORDER BY dept"
d <- told(function() scrim_read(con, paste0(sql, ";")))$value
want(identical(names(d), c("dept", "n", "n_low", "n_high", "a", "a_low", "a_high")), nrow(d) == 4)
want(all(d$n_low <= d$n, d$n <= d$n_high, d$a_low <= d$a, d$a <= d$a_high), all(abs(d$n - 1000) < 100))
want(attr(d, "private"), identical(attr(d, "values"), c("n", "a")), is.data.frame(attr(d, "cost")))
count <- sprintf("SELECT COUNT(*) AS n FROM people WHERE age < 20 + %d", Sys.getpid() %% 40) # not asked before
new <- told(function() scrim_read(con, count))$value
want(attr(new, "cost")$entry[1] == "charge", attr(new, "ledger_id") > 0)
again <- told(function() scrim_read(con, count))$value
want(again$n == new$n, attr(again, "cost")$entry[1] == "replay")
want(attr(again, "ledger_id") == attr(new, "ledger_id"))

# Few persons are a warning with a code and a remedy.
few <- told(function() scrim_read(con, "SELECT AVG(amount) AS a FROM people WHERE id <= 3"))
want("TOO_FEW_PERSONS" %in% few$codes, is.na(few$value$a), is.na(few$value$a_low))

wide <- told(function() scrim_read(con, "SELECT COUNT(*) AS n FROM people WHERE age > 30", level = 0.999))$value
narrow <- told(function() scrim_read(con, "SELECT COUNT(*) AS n FROM people WHERE age > 30", level = 0.5))$value
want(wide$n_high - wide$n_low > 2 * (narrow$n_high - narrow$n_low), wide$n == narrow$n)
want(grepl("between 0 and 1", refused(function() scrim_read(con, sql, level = 95))))

public <- scrim_read(con, "SELECT id, price FROM products WHERE id <= 3 ORDER BY id")
want(!attr(public, "private"), identical(names(public), c("id", "price")), is.null(attr(public, "cost")))
want(grepl("ggregate", refused(function() scrim_read(con, "SELECT * FROM people"))))
want(any(scrim_price(con, sql)$item == "budget"), nrow(scrim_budget(con)) > 0)

# Charts: bars for departments, a line for numbers; unknown ends dotted.
layers <- function(g) vapply(g$layers, function(l) class(l$geom)[1], "")
out <- tempfile(fileext = ".png")
draw <- function(g) {
  suppressMessages(ggplot2::ggsave(out, g, width = 7, height = 4, dpi = 80))
  want(file.size(out) > 3000)
  layers(g)
}
want("GeomCol" %in% draw(scrim_plot(d)))
line <- data.frame(k = 1:3, n = c(1, 2, NA), n_low = c(NA, 1, NA), n_high = c(3, 4, NA))
want("GeomLine" %in% draw(scrim_plot(line)), nrow(scrim_plot(line)$layers[[5]]$data) == 1)
want(grepl("no column has an interval", refused(function() scrim_plot(public))))
want(grepl("no column z", refused(function() scrim_plot(d, y = "z"))))
invisible(DBI::dbDisconnect(con))
cat("ok\n")

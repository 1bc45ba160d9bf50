# Answers with their intervals, warnings and cost, over any DBI connection to a Scrim server.

# The answer of one statement as a data frame.
#
# In a private answer a value n is followed by n_low and n_high, the ends of its 95 % interval, or
# of that at a level, where the server gives them for the same price; both are NA where none is
# known. The server's remarks are warnings of class scrim_warning with code, text and remedy.
# attr(d, "cost") is a data frame with a row for each account that was charged, or whose stored
# answer this is; attr(d, "ledger_id") the ledger's entry; attr(d, "values") the columns with an
# interval.
scrim_read <- function(con, sql, intervals = TRUE, level = NULL) {
  if (!is.null(level) && !(is.numeric(level) && level > 0 && level < 1)) {
    stop("level: want a number between 0 and 1, have ", format(level))
  }
  query <- sub(";[ \t\r\n;]*$", "", trim(sql))
  own <- losses(con, query)
  private <- !is.null(own) && nrow(own) > 0
  items <- integer()
  select <- if (private && intervals) parse_select(query)
  if (!is.null(select)) {
    items <- free_items(con, select, own, level)
    if (length(items)) query <- with_intervals(select, items, level)
  }
  before <- if (private) mark(con)
  d <- ask(con, query)
  told <- if (private) ask(con, "SELECT level, code, message, remedy FROM dp.last_warnings")
  d <- beside(d, items)
  attr(d, "private") <- private
  attr(d, "level") <- if (is.null(level)) 0.95 else level
  if (private) {
    cost <- costs(con, before)
    attr(d, "cost") <- cost
    attr(d, "ledger_id") <- ifelse(is.na(cost$replay_of), cost$ledger_id, cost$replay_of)[1]
    for (i in seq_len(nrow(told))) warning(remark(told[i, ]))
  }
  d
}

# What a query would cost, for each budget, and the expected error of each aggregate. It charges
# nothing.
scrim_price <- function(con, sql) ask(con, pricing(con, sub(";[ \t\r\n;]*$", "", trim(sql))))

# The budgets that the account may see, and what is left of them.
scrim_budget <- function(con) {
  ask(con, paste("SELECT account_type, account, principal, epsilon, rho, delta, budget_window,",
                 "spent_epsilon, remaining_epsilon, remaining_rho, questions_left FROM dp.budgets"))
}

# ask sends a statement without the driver's remarks on types that it reads as numbers.
ask <- function(con, sql) {
  withCallingHandlers(DBI::dbGetQuery(con, sql), warning = function(w) {
    if (grepl("imported as numeric|unrecognized MySQL field type", conditionMessage(w))) invokeRestart("muffleWarning")
  })
}

pricing <- function(con, query) paste0("CALL dp_price(", as.character(DBI::dbQuoteString(con, query)), ")")

# losses are the price's lines of budgets, none of a query that reads nothing private; NULL of what
# has no price: it is refused, or is no SELECT.
losses <- function(con, query) {
  p <- tryCatch(ask(con, pricing(con, query)), error = function(e) NULL)
  if (!is.null(p) && "item" %in% names(p)) p[which(p$item == "budget"), ]
}

# free_items are the items whose intervals leave the loss of every budget as it is: all at once, or
# else each that does by itself.
free_items <- function(con, select, own, level) {
  free <- function(items) length(items) > 0 && identical(losses(con, with_intervals(select, items, level)), own)
  items <- candidates(select)
  if (free(items)) return(items)
  items <- Filter(free, items)
  if (free(items)) items else integer()
}

# beside puts the ends of intervals, which are the last columns, behind the values that they are of.
beside <- function(d, items) {
  own <- ncol(d) - 2 * length(items)
  order <- unlist(lapply(seq_len(own), function(i) c(i, if (i %in% items) own + 2 * match(i, items) - 1:0)))
  values <- names(d)[items]
  for (k in seq_along(items)) names(d)[own + 2 * k - 1:0] <- paste0(values[k], c("_low", "_high"))
  d <- d[, order, drop = FALSE]
  attr(d, "values") <- values
  d
}

# mark is what the account sees of the ledger and of stored answers before a statement: the number of
# the last entry, 0 without one, and when a stored answer was used last, NA without one.
mark <- function(con) {
  id <- ask(con, "SELECT id FROM dp.ledger ORDER BY id DESC LIMIT 1")$id
  list(entry = if (length(id)) id else 0, used = ask(con, "SELECT CAST(MAX(last_used) AS CHAR) AS used FROM dp.replays")$used)
}

# costs are the account's charges and stored answers after a mark. Neither the ledger nor stored
# answers name a connection: what another session of the account asked meanwhile is among them. A
# charge is in the ledger before its answer is given. The use of a stored answer is written a moment
# later, and for the first time in an hour only: which it was is in the list of stored answers, and
# NA where that does not know it yet.
costs <- function(con, before) {
  new <- ask(con, sprintf("SELECT l.id AS ledger_id, l.entry, l.account_type, l.account, l.epsilon, l.delta, l.pure_epsilon, l.rho,
    l.remaining_epsilon, l.remaining_rho, (SELECT MIN(b.questions_left) FROM dp.budgets b
      WHERE b.account = l.account AND b.account_type = l.account_type) AS questions_left, l.replay_of, l.digest
    FROM dp.ledger l WHERE l.id > %.0f AND l.principal = CURRENT_USER() AND l.entry IN ('charge', 'replay')
    ORDER BY l.id, l.account_type DESC", before$entry))
  charged <- new$digest[new$entry == "charge"]
  if (length(charged)) {
    new <- new[new$digest == charged[length(charged)], ]
  } else {
    since <- if (is.na(before$used)) "IS NOT NULL" else paste0("> '", before$used, "'")
    of <- ask(con, paste("SELECT DISTINCT ledger_id FROM dp.replays WHERE last_used", since))$ledger_id
    paid <- if (length(of) == 1) of else NA
    new <- new[new$replay_of %in% paid, ]
    if (!nrow(new)) {
      new[1, ] <- NA
      new$entry <- "replay"
      new$replay_of <- paid
    }
  }
  new[setdiff(names(new), "digest")]
}

# remark is a row of dp.last_warnings as a warning.
remark <- function(row) {
  text <- sub(paste0(row$code, ": "), "", row$message, fixed = TRUE)
  remedy <- if (is.na(row$remedy)) "" else paste0(" ", row$remedy)
  structure(class = c("scrim_warning", "warning", "condition"),
            list(message = paste0(row$code, ": ", text, remedy), call = NULL, code = row$code, level = row$level, text = text, remedy = row$remedy))
}

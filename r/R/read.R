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
  d <- ask(con, query)
  told <- if (private) ask(con, "SELECT level, code, message, remedy FROM dp.last_warnings")
  d <- beside(d, items)
  attr(d, "private") <- private
  attr(d, "level") <- if (is.null(level)) 0.95 else level
  if (private) {
    cost <- costs(con)
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

# costs are what the connection's last private statement cost: its charges and stored answers.
costs <- function(con) {
  ask(con, "SELECT c.id AS ledger_id, c.entry, c.account_type, c.account, c.epsilon, c.delta, c.pure_epsilon, c.rho,
    c.remaining_epsilon, c.remaining_rho, (SELECT MIN(b.questions_left) FROM dp.budgets b
      WHERE b.account = c.account AND b.account_type = c.account_type) AS questions_left, c.replay_of
    FROM dp.last_cost c ORDER BY c.id, c.account_type DESC")
}

# remark is a row of dp.last_warnings as a warning.
remark <- function(row) {
  text <- sub(paste0(row$code, ": "), "", row$message, fixed = TRUE)
  remedy <- if (is.na(row$remedy)) "" else paste0(" ", row$remedy)
  structure(class = c("scrim_warning", "warning", "condition"),
            list(message = paste0(row$code, ": ", text, remedy), call = NULL, code = row$code, level = row$level, text = text, remedy = row$remedy))
}

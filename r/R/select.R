# The select list of a query by its text alone, to ask for intervals in the same statement. The
# server's own clients do the same by the package internal/client; both are tested with the cases
# of internal/client/testdata/select.json.

# comment_at says whether a comment begins at place i of a text's characters.
comment_at <- function(ch, i) {
  two <- paste(ch[i:min(i + 1, length(ch))], collapse = "")
  two == "/*" || ch[i] == "#" || two == "--" && (i + 2 > length(ch) || ch[i + 2] %in% c(" ", "\n", "\t"))
}

# skip is the place after the quoted text, the comment or the character at i.
skip <- function(ch, i) {
  n <- length(ch)
  if (ch[i] %in% c("'", '"', "`")) {
    j <- i + 1
    while (j <= n) {
      if (ch[j] == ch[i]) return(j + 1) # a doubled quote is a second text
      j <- j + if (ch[j] == "\\" && ch[i] != "`") 2 else 1
    }
    return(n + 1)
  }
  if (!comment_at(ch, i)) return(i + 1)
  if (ch[i] == "/") {
    j <- i + 2
    while (j < n) {
      if (ch[j] == "*" && ch[j + 1] == "/") return(j + 2)
      j <- j + 1
    }
    return(n + 1)
  }
  end <- which(ch[i:n] == "\n")
  if (length(end)) i + end[1] else n + 1
}

letter <- function(c) grepl("[A-Za-z0-9_$]|[^ -~\t\r\n]", c)

# word_at says whether a word stands at i, in any case.
word_at <- function(ch, i, word) {
  end <- i + nchar(word)
  end <= length(ch) + 1 && toupper(paste(ch[i:(end - 1)], collapse = "")) == word &&
    (i == 1 || !letter(ch[i - 1])) && (end > length(ch) || !letter(ch[end]))
}

trim <- function(text) gsub("^[ \t\r\n]+|[ \t\r\n]+$", "", text)

# item is an expression without what stands around it; a hint is no part of it.
item <- function(ch) {
  text <- trim(paste(ch, collapse = ""))
  if (!startsWith(text, "/*")) return(text)
  ch <- strsplit(text, "")[[1]]
  trim(paste(ch[seq_len(length(ch)) >= skip(ch, 1)], collapse = ""))
}

# parse_select is NULL where a text is not as simple as SELECT ... FROM ...: DISTINCT, * as a
# column, or no FROM.
parse_select <- function(query) {
  ch <- strsplit(query, "")[[1]]
  if (!length(ch) || !word_at(ch, 1, "SELECT")) return(NULL)
  items <- character()
  depth <- 0
  start <- i <- 7
  while (i <= length(ch)) {
    from <- ch[i] %in% c("F", "f") && depth == 0 && word_at(ch, i, "FROM")
    if (from || ch[i] == "," && depth == 0) {
      items <- c(items, item(ch[seq_len(i - start) + start - 1]))
      start <- i + 1
    }
    if (from) {
      if (grepl("^DISTINCT([^A-Za-z0-9_$]|$)", items[1], ignore.case = TRUE) || any(items == "" | endsWith(items, "*"))) return(NULL)
      before <- sub("[ \t\r\n]+$", "", paste(ch[seq_len(i - 1)], collapse = ""))
      return(list(before = before, after = paste(ch[i:length(ch)], collapse = ""), items = items))
    }
    depth <- depth + (ch[i] == "(") - (ch[i] == ")")
    i <- skip(ch, i)
  }
  NULL
}

# with_intervals is the query with the ends of the intervals of some items after its select list.
with_intervals <- function(select, items, level = NULL) {
  answer <- sub("(?is)^.*?\\S\\s+AS\\s+(`[^`]+`|[a-z_][a-z_0-9]*)$", "\\1", select$items[items], perl = TRUE)
  argument <- if (is.null(level)) "" else paste0(", ", format(level, digits = 15))
  ends <- paste0(", DP_LOW(", answer, argument, "), DP_HIGH(", answer, argument, ")", collapse = "")
  paste0(select$before, if (length(items)) ends, " ", select$after)
}

# candidates are the items that may have an interval: calls, but for those that tell of an error.
candidates <- function(select) {
  which(grepl("(", select$items, fixed = TRUE) & !grepl("^DP_(LOW|HIGH|STDERR|RADIUS|INFO)\\s*\\(", select$items, ignore.case = TRUE))
}

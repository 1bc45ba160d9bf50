# A chart of an answer of scrim_read, made with ggplot2: a line where the keys are numbers or
# dates, bars elsewhere. An end of an interval that is not known is dotted, with an arrow to the
# edge; a value that is NA is written as NULL.
scrim_plot <- function(d, x = NULL, y = NULL) {
  if (!requireNamespace("ggplot2", quietly = TRUE)) stop("scrim_plot needs the package ggplot2 (Debian: r-cran-ggplot2)")
  values <- sub("_low$", "", grep("_low$", names(d), value = TRUE))
  if (is.null(y)) y <- values[1]
  if (is.na(y)) stop("no column has an interval (n, n_low, n_high): name the value, scrim_plot(d, y = \"n\")")
  keys <- if (is.null(x)) setdiff(names(d), c(values, paste0(values, "_low"), paste0(values, "_high"), y)) else x
  missing <- setdiff(c(keys, y), names(d))
  if (length(missing)) stop("no column ", missing[1], ": want one of ", paste(names(d), collapse = ", "))
  p <- data.frame(y = as.numeric(d[[y]]))
  for (end in c("low", "high")) p[[end]] <- if (y %in% values) as.numeric(d[[paste0(y, "_", end)]]) else p$y
  key <- if (length(keys) == 1) d[[keys]] else if (length(keys)) do.call(paste, c(unname(d[keys]), sep = ", ")) else rep(y, nrow(d))
  if (is.character(key) && length(key) && all(grepl("^[0-9]{4}-[0-9]{2}-[0-9]{2}$", key))) key <- as.Date(key)
  line <- (is.numeric(key) || inherits(key, c("Date", "POSIXct"))) && !anyNA(key) && length(key) > 1 && !anyDuplicated(key)
  if (!line) {
    key <- ifelse(is.na(key), "NULL", as.character(key))
    key <- factor(key, levels = unique(key))
  }
  p$key <- key
  ends <- range(c(p$y, p$low, p$high, if (!line) 0), na.rm = TRUE, finite = TRUE)
  edge <- c(low = if (!line && ends[1] >= 0) 0 else ends[1] - 0.08 * diff(ends), high = ends[2] + 0.08 * diff(ends))
  g <- ggplot2::ggplot(p, ggplot2::aes(.data$key, .data$y))
  shown <- p[!is.na(p$y), ]
  g <- if (line) {
    g + ggplot2::geom_line(data = shown, colour = "#3b6ea5") + ggplot2::geom_point(data = shown, colour = "#3b6ea5")
  } else {
    g + ggplot2::geom_col(data = shown, width = 0.7, fill = "#3b6ea5", alpha = 0.55)
  }
  for (end in c("low", "high")) {
    known <- shown[!is.na(shown[[end]]), ]
    unknown <- shown[is.na(shown[[end]]), ]
    known$end <- known[[end]]
    unknown$end <- rep(edge[[end]], nrow(unknown))
    g <- g +
      ggplot2::geom_segment(data = known, ggplot2::aes(xend = .data$key, yend = .data$end), colour = "#333333") +
      ggplot2::geom_point(data = known, ggplot2::aes(y = .data$end), shape = "-", size = 6, colour = "#333333") +
      ggplot2::geom_segment(data = unknown, ggplot2::aes(xend = .data$key, yend = .data$end), colour = "#333333", linetype = "dotted") +
      ggplot2::geom_point(data = unknown, ggplot2::aes(y = .data$end), shape = if (end == "low") 25 else 24, fill = "#333333", colour = "#333333")
  }
  none <- p[is.na(p$y), ]
  level <- attr(d, "level")
  if (!line) g <- g + ggplot2::scale_x_discrete(limits = levels(p$key))
  slanted <- !line && sum(nchar(levels(p$key))) > 60
  g +
    ggplot2::geom_text(data = none, ggplot2::aes(y = edge[["low"]]), label = "NULL", vjust = -0.5, size = 3, colour = "#888888") +
    ggplot2::labs(x = paste(keys, collapse = ", "), y = if (y %in% values && !is.null(level)) sprintf("%s, %g %% intervals", y, 100 * level) else y) +
    ggplot2::theme_minimal() +
    ggplot2::theme(axis.text.x = ggplot2::element_text(angle = if (slanted) 35 else 0, hjust = if (slanted) 1 else 0.5))
}

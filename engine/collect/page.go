package collect

// PagePath is where a server has the page for contributors. A link of a token has it, and all that
// is of the token in its fragment, which no browser sends: the page's requests are the same for
// everybody.
const PagePath = "/report"

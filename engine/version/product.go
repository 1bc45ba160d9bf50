package version

// Product is the version of the program.
const Product = "0.1.0"

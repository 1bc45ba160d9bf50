// Package browser drives a headless Chromium in tests: what its pages complain of and whom they
// ask, at which width and in which colours, and what axe-core finds of them. A test without a
// Chromium on the machine is skipped, or fails where CI asks for all.
package browser

// Package part reads and verifies a stretch of the records by itself: what its charges add up to,
// its changes of budgets, and its index. Parts are read side by side and joined in their order.
package part

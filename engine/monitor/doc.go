// Package monitor is what the server shows over HTTP: the console, and to its operators the
// dashboard, the metrics and whether private statements can be answered; and the warnings that
// stand until somebody has acted.
//
//	GET /healthz   200 while the process lives
//	GET /readyz    200 while private statements can be answered, else 503 and why not
//	GET /metrics   Prometheus' text; a name and a password unless the address is a loopback one
//	    /console   the console, for every account
//	    /          the dashboard, for DBAs and auditors
package monitor

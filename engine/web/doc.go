// Package web is what the dashboard and the console have in common: sessions of browsers and the
// headers of what they are sent.
package web

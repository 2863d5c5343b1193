// Package hookop is the dialect with the op hlocb.hook: one row, and a view of it.
package hookop

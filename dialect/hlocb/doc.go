// Package hlocb is the dialect of hlocb itself: the hook operation, version 1 of hlocb's own custom call, and
// the manifest that tells a runtime which hooks a module holds.
package hlocb

// Package plugins finds PJRT plugins in the places where people keep them, and installs the ones that hlocb
// knows. It is pure Go and loads nothing: package runtime/pjrt does.
//
// Nothing here reads the environment; the caller says in an Environment what the search depends on.
package plugins

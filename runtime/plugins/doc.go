// Package plugins finds PJRT plugins in their usual places and installs the plugins of its list. It is pure Go and
// loads nothing; package runtime/pjrt loads plugins. It reads no environment variable itself: an Environment holds
// everything that the search depends on.
package plugins

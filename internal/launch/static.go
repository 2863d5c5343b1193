//go:build static

package launch

// static says that the command runs without a C library.
const static = true

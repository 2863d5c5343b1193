//go:build !static

package launch

const static = false

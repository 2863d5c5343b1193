//go:build !cgo

package cli_test

const haveCgo = false

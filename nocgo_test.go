//go:build !cgo

package hlocb_test

const haveCgo = false

// Package layout holds no code, only the test that imports go downwards.
package layout

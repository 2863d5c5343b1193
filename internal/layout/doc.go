// Package layout holds no code, only tests of the tree as a whole: imports go downwards, C stays in its packages,
// documents link to what is there.
package layout

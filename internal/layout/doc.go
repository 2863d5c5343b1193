// Package layout contains only tests of the whole tree: imports go downwards, C stays in its packages, and links in
// documents have targets.
package layout

// Command gen writes the views and builders of the dialect.
package main

import (
	"example.com/tally/tally"
	"github.com/hlocb/hlocb/dialect/gen"
)

func main() { gen.Main(tally.Dialect(), gen.Options{}) }

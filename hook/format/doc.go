// Package format reads and writes the formats that frameworks use for hooks.
//
// Each format is one file with its reader and its writer. [Raise] turns the hooks of every format into hlocb.hook ops,
// and [Lower] writes these ops in one format. [ManifestOf] lists the hooks of a module. The list of formats is open:
// append a [Format] to [Builtin].
package format

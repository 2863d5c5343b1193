// Package pass defines passes, the text form of pipelines and the driver that runs them.
//
// A pass is a Go struct. Its exported fields with the tag `pass` are its options, Info documents it, and Run does the
// work on a module or on one op, such as a function:
//
//	type Unroll struct {
//		Limit pass.Opt[int] `pass:"limit" default:"16" doc:"unroll loops of at most this many trips"`
//	}
//
//	func (Unroll) Info() *pass.Info { return &pass.Info{Name: "unroll", Doc: "Unrolls loops.", Anchor: "func.func"} }
//	func (u Unroll) Run(ctx *pass.Context, f *ir.Op) error { … }
//
// The zero value of an option means its default; see [Option]. A pass made of patterns embeds [Rules].
//
// A pass gets a valid module and leaves a valid module. It depends only on the module and its options, keeps no state
// between runs, and is deterministic to the byte. Passes therefore work without a table, a driver or a command line:
// other compilers can call Run, or run their own [Pipeline].
//
// A [Table] finds passes by name for [Parse], which reads MLIR's text form of pipelines. A [Driver] runs a pipeline,
// verifies between passes, calls instruments, and turns a panic into an error that names the pass.
package pass

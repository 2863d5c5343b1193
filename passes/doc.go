// Package passes holds the transformations of hlocb: the contract every pass keeps (Pass, Info, Context), the
// text form of pipelines, the driver that runs them with verification and instruments between passes, and one
// file per pass.
//
// A pass gets a valid module and leaves a valid one. It reads nothing but the module and its options, keeps no
// state between runs, and gives the same output for the same input, to the byte. Passes know nothing of command
// lines, files and runtimes, so that other compilers can use them one by one: a pass is a value, and a driver
// may run any list of them. To add one, write a file with a constructor and add its row to Builtin.
package passes

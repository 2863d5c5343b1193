// Package cli is the command line of hlocb: one file per subcommand. Main is the whole program less the process: it
// neither exits nor touches the standard streams, so that tests run it in their own process.
package cli

// Package interpose wraps the PJRT plugin of a framework. It adds probes to the programs that the framework
// compiles, delivers their values to handlers, and lets JAX's Python callbacks run on plugins that lack them. The
// framework's program does not change.
//
// Command libhlocb_pjrt builds it as a plugin. A Go program passes the result of [Interposer.Wrap] to its binding of
// PJRT.
package interpose

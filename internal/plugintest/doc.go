// Package plugintest tests a backend against another one that is taken as right: a suite for the vendors of PJRT
// plugins, with the embedded engine as reference.
//
// A Case is a small module, or a piece of Go, in one of the groups ops, types, hooks and runtime. Suite lists them,
// Run executes them one after the other, and WriteTable and WriteJUnit report. Cases need nothing but the
// runtime.Backend interface, so that a case that fails on a plugin can be reproduced with 'hlocb run'.
package plugintest

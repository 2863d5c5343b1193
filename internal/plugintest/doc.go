// Package plugintest compares a backend with another one that serves as reference. It is the suite of 'hlocb plugin
// test', for vendors of PJRT plugins; the reference is the embedded engine.
//
// A Case is a small module, or a Go function, in one of the groups ops, types, hooks and runtime. Suite lists the
// cases, Run executes them one after the other, and WriteTable and WriteJUnit report. Cases use only the
// runtime.Backend interface, so a case that fails on a plugin can be reproduced with 'hlocb run'.
package plugintest

// Package plugincheck decides before compilation whether a plugin can run a program: yes, no or maybe, with a reason,
// for each kind of op, element type and custom-call target.
//
// Static uses tables. Pieces splits the module into programs of one op each, which Try compiles and runs on the plugin.
// A plugin may crash over a piece, so the command line tries pieces in a child process.
package plugincheck

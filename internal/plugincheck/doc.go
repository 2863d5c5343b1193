// Package plugincheck says before a program is compiled whether a plugin can run it: each kind of op, element type and
// custom-call target with yes, no or maybe and the reason.
//
// Static looks it up in tables of what is known. Pieces cuts the module into programs of one op each, which Try compiles
// and runs on the plugin itself. A plugin may crash over one of them, so the command line tries them in a child process.
package plugincheck

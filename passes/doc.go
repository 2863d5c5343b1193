// Package passes holds hlocb's passes, one file each, and the pipeline that rewrites hooks.
//
// Each pass is a struct whose fields are its options, see package pass. [Builtin] lists the passes, [RewriteHooks] stands
// for the passes that convert the hooks of a module, and [Rewrite] runs them.
package passes

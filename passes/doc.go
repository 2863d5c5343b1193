// Package passes contains hlocb's passes, one file each, and the pipeline that rewrites hooks.
//
// Each pass is a struct whose fields are its options; see package pass. [Builtin] lists the passes. [RewriteHooks] is
// the group of passes that converts the hooks of a module, and [Rewrite] runs it.
package passes

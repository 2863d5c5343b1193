// Package hook defines a hook: a place where a compiled program talks to its host. It holds only data: one Site per
// hook, the Manifest of a module, and the order between hooks. Package [github.com/hlocb/hlocb/hook/format] reads and
// writes the formats that frameworks use for hooks.
package hook

// Package hook says what a hook is: a place where a compiled program talks to its host. It holds data only: a Site per
// hook, the Manifest of a module, the order between hooks. Package [github.com/hlocb/hlocb/hook/format] reads and writes
// the formats that frameworks use for hooks.
package hook

// Package fn is the func dialect: functions, calls and returns, and typed views of them.
package fn

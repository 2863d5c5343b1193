// Package mpmd is Shardy's dialect for programs of several meshes of devices: a topology of meshes, values on one of
// them, fragments that run on one mesh, and transfers between meshes.
package mpmd

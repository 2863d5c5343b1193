// Package sdy is Shardy's dialect: meshes of devices, shardings of values over them, and computations that are written
// per device (manual_computation).
//
// Attributes are read into the structs of this package. Their canonical text is the body of an ir.DialectAttr. Use
// AttrOf to create one.
package sdy

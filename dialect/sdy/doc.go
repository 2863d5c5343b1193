// Package sdy is Shardy's dialect: meshes of devices, shardings of values over them, and the computations that
// say per device what is done (manual_computation).
//
// Attributes are read into the structs of this package and written back in canonical text, the body of their
// ir.DialectAttr; whoever makes one takes AttrOf.
package sdy

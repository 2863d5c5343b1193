// Package exec runs plans: a machine walks the instructions of a function on one device.
//
// A frame holds the values of one activation of a function, a slot for each. Buffers are reference-counted. A machine
// returns the buffers of dead values to a free list or overwrites them in place. Machines of several devices meet in a
// deviceGroup. A watch bounds the memory and the time of a run.
package exec

// Package verify judges whether two programs, or two backends, do the same: it makes inputs, runs both sides,
// compares results element by element and events in the order that the program asks for, and narrows a difference
// to the op where the sides part.
package verify

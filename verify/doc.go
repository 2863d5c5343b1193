// Package verify decides whether two programs, or one program on two backends, do the same. It generates inputs, runs
// both sides, compares results element by element and events in the order that the program requires, and finds the
// first op whose value differs.
package verify

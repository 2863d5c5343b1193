// Package tensorio reads and writes tensors as JSON and as .npy files of numpy, and shortens large tensors for a person
// to read.
package tensorio

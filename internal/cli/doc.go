// Package cli is hlocb's command line: one file per command. Package internal/command has the code that other command
// lines share with it; package hlocb does the work.
package cli

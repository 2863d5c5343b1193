// Package events sends the events of hooks to files, directories and servers for analysis, and reads them again.
//
// An Event is the common form: an Observer makes Events of the calls of a running program, Read makes them of files. A
// Sink writes them: JSONL, Parquet, CSV, TensorBoard, Chrome's trace format, or metrics for Prometheus. Each has a file
// of its own.
package events

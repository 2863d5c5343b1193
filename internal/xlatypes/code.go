package xlatypes

import "fmt"

// Code classifies errors of plugins and handlers. The numbers come from the C API.
type Code int

// Codes that callers distinguish.
const (
	Unknown         Code = 2
	InvalidArgument Code = 3
	NotFound        Code = 5
	Unimplemented   Code = 12
	Internal        Code = 13
)

var codeNames = [...]string{"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
	"PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL",
	"UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED"}

// String returns the spelling that XLA uses.
func (c Code) String() string {
	if c < 0 || int(c) >= len(codeNames) {
		return fmt.Sprintf("code %d", int(c))
	}
	return codeNames[c]
}

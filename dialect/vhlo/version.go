package vhlo

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Version is a version of StableHLO.
type Version struct{ Major, Minor, Patch int }

// The versions that artifacts can have, and the versions of the named targets (StableHLO 1.22.0, which jaxlib 0.12.0.1
// states: Version.cpp). Versions 1.21 and 1.22 add no operation, attribute or type of VHLO: jaxlib writes the same
// artifact for them as for 1.20, the version apart.
var (
	Minimum = Version{0, 9, 0}
	Current = Version{1, 22, 0}
	// Week12 is the target for readers of unknown version: a release that was twelve weeks old at Current.
	Week12 = Version{1, 16, 3}

	named = []struct {
		name string
		v    Version
	}{
		{"current", Current}, {"NONE", Current}, {"WEEK_4", Version{1, 18, 0}}, {"WEEK_12", Week12}, {"MAX", Minimum},
	}
)

// ParseVersion reads x.y.z or the name of a target: current, WEEK_4, WEEK_12, MAX.
func ParseVersion(s string) (Version, error) {
	for _, n := range named {
		if n.name == s {
			return n.v, nil
		}
	}
	var v Version
	parts := strings.Split(s, ".")
	if len(parts) == 3 {
		for i, p := range [...]*int{&v.Major, &v.Minor, &v.Patch} {
			n, err := strconv.ParseUint(parts[i], 10, 31)
			if err != nil {
				return v, badTarget(s)
			}
			*p = int(n)
		}
		return v, nil
	}
	return v, badTarget(s)
}

func badTarget(s string) error {
	return fmt.Errorf("target %q: expected a version such as 1.13.0, or current, WEEK_4, WEEK_12 or MAX", s)
}

// String returns x.y.z.
func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch) }

// Less reports whether v is older than w.
func (v Version) Less(w Version) bool {
	return cmp.Or(cmp.Compare(v.Major, w.Major), cmp.Compare(v.Minor, w.Minor), cmp.Compare(v.Patch, w.Patch)) < 0
}

// Bytecode returns the version of MLIR bytecode in artifacts of v.
func (v Version) Bytecode() int {
	switch {
	case v.Less(Version{0, 10, 0}):
		return 0
	case v.Less(Version{0, 12, 0}):
		return 1
	case v.Less(Version{0, 14, 0}):
		return 3
	case v.Less(Version{0, 15, 0}):
		return 4
	}
	return 6
}

// Producer returns the producer in artifacts of v.
func (v Version) Producer() string { return "StableHLO_v" + v.String() }

// ProducerVersion returns the version in an artifact's producer name.
func ProducerVersion(producer string) (Version, bool) {
	s, ok := strings.CutPrefix(producer, "StableHLO_v")
	if !ok {
		return Version{}, false
	}
	v, err := ParseVersion(s)
	return v, err == nil
}

// Check returns an error if v is not a version that hlocb can write.
func (v Version) Check() error {
	switch {
	case v.Less(Minimum):
		return fmt.Errorf("target %s is older than %s, the oldest version of StableHLO that can be written", v, Minimum)
	case Current.Less(v):
		return fmt.Errorf("target %s is newer than %s, the newest version of StableHLO that hlocb knows", v, Current)
	}
	return nil
}

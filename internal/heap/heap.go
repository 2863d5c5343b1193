// Package heap decides how much garbage an hlocb process may accumulate. A module is built once and thrown away at
// exit, so rare collections are best while the heap is small. With a large heap the garbage would be large too.
package heap

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	smallPercent = 400      // garbage per live byte, in percent, while the heap is small
	largePercent = 75       // the same while the heap is large
	slack        = 64 << 20 // bytes of garbage allowed between the two
	slackPerByte = 8        // bytes of garbage allowed per byte of a text that is being read

	limitPerByte = 32 // bytes of memory per byte of a text that is being read
	limitBase    = 40 << 20
)

// Tune sets how much garbage may grow, now and after each collection. Call it from main functions: the setting
// applies to the whole process.
func Tune() {
	debug.SetGCPercent(smallPercent)
	watch(&sentinel{})
}

// Reading limits memory while a text of size bytes is read, changed and written. For any text, garbage is collected
// before the total reaches 40 times the size plus 64 MB. An ordinary module takes 5 to 8 times its text; after Tune,
// the limit avoids repeated collections while the module grows. A text that needs more raises the limit.
func Reading(size int) {
	debug.SetMemoryLimit(limitPerByte*int64(size) + limitBase)
	debug.SetGCPercent(percent(live(), text()))
}

// Running ends the limit of Reading: the memory that a program needs at run time does not depend on its text.
func Running() { debug.SetMemoryLimit(math.MaxInt64) }

// text returns the size that the last call of Reading set; 0 without a limit.
func text() uint64 {
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		return 0
	}
	return uint64(max(0, limit-limitBase) / limitPerByte)
}

// sentinel is unreachable from the start: the collector finalizes it once per collection.
type sentinel struct{ _ byte }

func watch(a *sentinel) { runtime.SetFinalizer(a, onCollection) }

func onCollection(a *sentinel) {
	live := live()
	debug.SetGCPercent(percent(live, text()))
	// Live bytes near the limit would be collected again and again: 20,000 hooks of HLO took three times as long. A short
	// text that needs this much, such as one whose hooks are rewritten, gets the garbage of a large heap.
	if most := int64(live + live*largePercent/100); most > debug.SetMemoryLimit(-1) {
		debug.SetMemoryLimit(most)
	}
	watch(a)
}

// live returns how many bytes the last collection found in use.
func live() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}

// minLive is the collector's minimum for the live bytes at 100 percent.
const minLive = 4 << 20

// percent returns how much garbage may grow, in percent of live bytes, with a text of the given bytes.
func percent(live, text uint64) int {
	live = max(live, minLive)
	most := max(smallPercent, 100*slackPerByte*text/live)
	return int(min(most, max(largePercent, 100*max(slack, slackPerByte*text)/live)))
}

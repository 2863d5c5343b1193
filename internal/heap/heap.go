// Package heap decides how much a process of hlocb's lets garbage grow. A module is built once and thrown away at exit,
// so that collecting seldom is right as long as the heap is small; where it is large, so would its garbage be.
package heap

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	smallPercent = 400      // garbage per live byte, in percent, while the heap is small
	largePercent = 75       // and where it is large
	room         = 64 << 20 // bytes that garbage may take in between
	roomPerByte  = 8        // and of a text that is being read, for each of its bytes
)

// Tune sets how much garbage may grow, now and after each collection. It is for main functions: the setting is the
// whole process's.
func Tune() {
	debug.SetGCPercent(smallPercent)
	watch(&after{})
}

// Reading bounds memory while a text of size bytes is read, changed and written: whatever the text, garbage is collected
// before all of it together takes 40 times the size and 64 MB. An ordinary module takes 5 to 8 times its text, so that
// much is not looked through again and again while it grows.
func Reading(size int) {
	debug.SetMemoryLimit(32*int64(size) + 40<<20)
	debug.SetGCPercent(percent(live(), uint64(size)))
	watch(&after{text: uint64(size)})
}

// Running ends what Reading began: what a program needs when it runs says nothing of its text.
func Running() { debug.SetMemoryLimit(math.MaxInt64) }

// after is unreachable from the start, so that the collector finalizes it: once in each collection.
type after struct{ text uint64 }

func watch(a *after) { runtime.SetFinalizer(a, collected) }

func collected(a *after) {
	debug.SetGCPercent(percent(live(), a.text))
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

// least is what the collector takes the live bytes for at 100 percent where there are fewer.
const least = 4 << 20

// percent returns how much garbage may grow, in percent of live bytes, with a text of so many bytes.
func percent(live, text uint64) int {
	live = max(live, least)
	most := max(smallPercent, 100*roomPerByte*text/live)
	return int(min(most, max(largePercent, 100*max(room, roomPerByte*text)/live)))
}

package hlo

// table maps numbers to what scopes have for them. Most numbers belong to one scope, whose value is in a slice: a table
// of all numbers and scopes costs little more than the numbers.
type table[T any] struct {
	slots []slot[T]
	rest  map[slotKey]T // of numbers that belong to another scope
}

// slot is the value of a number in the scope that it belongs to.
type slot[T any] struct {
	scope uint32 // from 1 on; 0 for none
	v     T
}

type slotKey struct{ scope, n uint32 }

// get returns the value of n in a scope, and whether there is one.
func (t *table[T]) get(scope, n uint32) (v T, ok bool) {
	if int(n) < len(t.slots) {
		if s := &t.slots[n]; s.scope == scope {
			return s.v, true
		}
	}
	v, ok = t.rest[slotKey{scope, n}]
	return v, ok
}

// set sets the value of n in a scope.
func (t *table[T]) set(scope, n uint32, v T) {
	if int(n) < len(t.slots) {
		if s := &t.slots[n]; s.scope == 0 || s.scope == scope {
			*s = slot[T]{scope, v}
			return
		}
	}
	store(&t.rest, slotKey{scope, n}, v)
}

// store is m[k] = v for a map that is made when it is needed.
func store[K comparable, V any](m *map[K]V, k K, v V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[k] = v
}

package passes

// Builtin returns the passes of this package.
func Builtin() *Table {
	t, err := NewTable(
		Kind{raiseHooksInfo, newRaiseHooks},
		Kind{orderHooksInfo, newOrderHooks},
		Kind{placeHooksInfo, newPlaceHooks},
		Kind{aliasHooksInfo, newAliasHooks},
		Kind{lowerHooksInfo, newLowerHooks},
		Kind{checkOrderInfo, newCheckOrder},
		Kind{mhloToStableHLOInfo, newMHLOToStableHLO},
	)
	if err != nil {
		panic(err) // two rows above have one name
	}
	return t
}

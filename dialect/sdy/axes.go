package sdy

import "slices"

// size returns the size of the axis with the given name, or 0 if the mesh lacks it.
func (m *DeviceMesh) size(name string) int64 {
	for _, a := range m.Axes {
		if a.Name == name {
			return a.Size
		}
	}
	return 0
}

func (m *DeviceMesh) index(name string) int {
	return slices.IndexFunc(m.Axes, func(a MeshAxis) bool { return a.Name == name })
}

// maximal reports whether values on the mesh live on one device.
func (m *DeviceMesh) maximal() bool { return len(m.Axes) == 0 && len(m.DeviceIDs) == 1 }

func (m *DeviceMesh) empty() bool { return len(m.Axes) == 0 && len(m.DeviceIDs) == 0 }

func (m *DeviceMesh) equal(o *DeviceMesh) bool {
	return slices.Equal(m.Axes, o.Axes) && slices.Equal(m.DeviceIDs, o.DeviceIDs)
}

func (a AxisRef) part() bool { return a.Pre != 0 || a.Size != 0 }

// from and to return the products of the sizes before the axis's part, and before the next part.
func (a AxisRef) from() int64 {
	if a.part() {
		return a.Pre
	}
	return 1
}

func (a AxisRef) to(m *DeviceMesh) int64 {
	if a.part() {
		return a.Pre * a.Size
	}
	return m.size(a.Name)
}

// merges reports whether b is the part of the same axis that follows a.
func (a AxisRef) merges(b AxisRef) bool {
	return a.Name == b.Name && a.part() && b.part() && a.Pre*a.Size == b.Pre
}

// merge joins a and b. b must be the part that follows a.
func (a AxisRef) merge(b AxisRef, m *DeviceMesh) AxisRef {
	if a.Pre == 1 && a.Size*b.Size == m.size(a.Name) {
		return AxisRef{Name: a.Name}
	}
	return AxisRef{Name: a.Name, Pre: a.Pre, Size: a.Size * b.Size}
}

func (a AxisRef) overlaps(b AxisRef) bool {
	if a.Name != b.Name {
		return false
	}
	return !a.part() || !b.part() || a.Pre < b.Pre*b.Size && b.Pre < a.Pre*a.Size
}

// endsIn reports whether a is the end of b or all of b.
func (a AxisRef) endsIn(b AxisRef, m *DeviceMesh) bool {
	return a.Name == b.Name && a.from() >= b.from() && a.to(m) == b.to(m)
}

// before orders axes as in the mesh.
func before(m *DeviceMesh) func(a, b AxisRef) int {
	return func(a, b AxisRef) int {
		if a.Name != b.Name {
			i, j := m.index(a.Name), m.index(b.Name)
			return i - j
		}
		return int(a.from() - b.from())
	}
}

// appendAxis adds b to axes. It merges b with the last axis if b follows it.
func appendAxis(axes []AxisRef, b AxisRef, m *DeviceMesh) []AxisRef {
	if n := len(axes); n > 0 && axes[n-1].merges(b) {
		return append(axes[:n-1:n-1], axes[n-1].merge(b, m))
	}
	return append(axes, b)
}

// devices returns the number of devices that the axes span.
func devices(axes []AxisRef, m *DeviceMesh) int64 {
	n := int64(1)
	for _, a := range axes {
		if a.part() {
			n *= a.Size
		} else {
			n *= m.size(a.Name)
		}
	}
	return n
}

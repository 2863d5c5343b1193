package bytecode

import (
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/ir"
)

// resourceItem is a dialect resource that attributes refer to.
type resourceItem struct {
	key    string
	text   string // "" if it has no data
	number int
}

// resource writes the number of the resource that a refers to.
func (e *encoder) resource(a *ir.ResourceAttr) {
	if e.key {
		e.string(a.Key())
		return
	}
	for _, r := range e.w.resources {
		if r.key == a.Key() {
			e.uint(uint64(r.number))
			return
		}
	}
}

// visitResource records that an attribute refers to a resource.
func (w *writer) visitResource(a *ir.ResourceAttr) {
	for _, r := range w.resources {
		if r.key == a.Key() {
			return
		}
	}
	it := resourceItem{key: a.Key()}
	for _, r := range w.m.Resources() {
		if r.Section == "dialect_resources" && r.Key == a.Key() {
			it.text = r.Text
		}
	}
	w.resources = append(w.resources, it)
}

// numberResources numbers the resources of builtin attributes. Resources with data come first.
func (w *writer) numberResources() {
	n := 0
	for _, data := range [...]bool{true, false} {
		for i := range w.resources {
			if r := &w.resources[i]; (r.text != "") == data {
				r.number = n
				n++
			}
		}
	}
}

// resourceSections returns the data of the resources, the section with their keys and sizes, and the alignment of the
// data.
func (w *writer) resourceSections() (data, offsets []byte, align int) {
	align = 1
	entry := func(key, text string) {
		before := len(data)
		kind := byte(resourceBlob)
		switch {
		case text == "":
		case text == "true" || text == "false":
			kind = resourceBool
			data = append(data, byte(len("false")-len(text)))
		case strings.HasPrefix(text, `"0x`):
			a, blob := blobOf(text)
			align = max(align, a)
			data = appendUint(appendUint(data, uint64(a)), uint64(len(blob)))
			for len(data)&(a-1) != 0 {
				data = append(data, pad)
			}
			data = append(data, blob...)
		default:
			kind = resourceString
			s := quoted(text)
			if len(s) != 1 {
				s = []string{text}
			}
			data = appendUint(data, w.stringID(s[0]))
		}
		offsets = appendUint(appendUint(offsets, w.stringID(key)), uint64(len(data)-before))
		offsets = append(offsets, kind)
	}
	all := w.m.Resources()
	groups := 0
	for i := 0; i < len(all); {
		n := i + 1
		for n < len(all) && all[n].Section == all[i].Section && all[n].Dialect == all[i].Dialect {
			n++
		}
		if all[i].Section == "external_resources" {
			groups++
			offsets = appendUint(appendUint(offsets, w.stringID(all[i].Dialect)), uint64(n-i))
			for _, r := range all[i:n] {
				entry(r.Key, r.Text)
			}
		}
		i = n
	}
	offsets = append(appendUint(nil, uint64(groups)), offsets...)
	if len(w.resources) > 0 {
		offsets = appendUint(appendUint(offsets, uint64(w.dialects[w.dialectIDs["builtin"]].number)), uint64(len(w.resources)))
		for _, data := range [...]bool{true, false} {
			for _, r := range w.resources {
				if (r.text != "") == data {
					entry(r.key, r.text)
				}
			}
		}
	}
	return data, offsets, align
}

// blobOf returns the alignment and the bytes of a resource. Its text is "0x" and hexadecimal digits; the first eight
// are the alignment.
func blobOf(text string) (align int, blob []byte) {
	digits := strings.TrimSuffix(strings.TrimPrefix(text, `"0x`), `"`)
	b := make([]byte, len(digits)/2)
	for i := range b {
		v, _ := strconv.ParseUint(digits[2*i:2*i+2], 16, 8)
		b[i] = byte(v)
	}
	if len(b) < 4 {
		return 1, b
	}
	align = int(b[0]) | int(b[1])<<8 | int(b[2])<<16 | int(b[3])<<24
	if align <= 0 || align&(align-1) != 0 {
		align = 1
	}
	return align, b[4:]
}

package stablehlo

import (
	"cmp"

	"github.com/hlocb/hlocb/ir"
)

// tokenLast checks that the results are tensors followed by a token (infeed C2, C3; recv C3).
func tokenLast(s *subject) error {
	n := len(s.results)
	if n == 0 {
		return fail("result is expected to be at least of size 1, but got %d", n)
	}
	if t := s.results[n-1]; !IsToken(t) {
		return fail("last element of result types is expected to be of token type, but got '%s'", t)
	}
	for _, t := range s.results[:n-1] {
		if _, ok := t.(*ir.TensorType); !ok {
			message := "everything but the last element of result types is expected to be of tensor type, but got '%s'"
			if s.def.Name[len(s.def.Dialect()):] == ".infeed" {
				message = "all elements of result types, except the last element, are expected to be of tensor type, but got '%s'"
			}
			return fail(message, t)
		}
	}
	return nil
}

func infeedRule(s *subject) error {
	if err := tokenLast(s); err != nil {
		return err
	}
	layout, ok := s.attr("layout").(*ir.ArrayAttr)
	if !ok {
		return nil
	}
	if n := len(s.results) - 1; len(layout.Elems()) != n { // (C1)
		return fail("layout-attribute size must be %d (which is the number of op-results - 1 (for token result)), but got %d", n, len(layout.Elems()))
	}
	for _, e := range layout.Elems() {
		l, ok := e.(*ir.ArrayAttr)
		if !ok {
			return fail("layout-attribute expected to have elements of type array, but got %s", e)
		}
		for _, x := range l.Elems() {
			if _, ok := x.(*ir.IntegerAttr); !ok {
				return fail("layout-attribute's leaf elements are expected to be of type integer, but got %s", x)
			}
		}
	}
	return nil
}

// channelTypeRule checks the direction of a channel (send C1, recv C1); host is the type for host transfers.
func channelTypeRule(s *subject, host int64, hostName string) error {
	c, ok := ir.DataOf[ChannelHandle](s.attr("channel_handle"))
	if !ok {
		return nil
	}
	if s.bool("is_host_transfer") {
		if c.Type != host {
			return fail("channel_type should be %s when is_host_transfer is true", hostName)
		}
		return nil
	}
	if c.Type != ChannelDeviceToDevice {
		return fail("channel_type should be DEVICE_TO_DEVICE when is_host_transfer is false")
	}
	return nil
}

func recvRule(s *subject) error {
	return cmp.Or(channelTypeRule(s, ChannelHostToDevice, "HOST_TO_DEVICE"), tokenLast(s)) // (C2, C3, C4)
}

func inferSend(s *subject) ([]ir.Type, error) {
	if err := channelTypeRule(s, ChannelDeviceToHost, "DEVICE_TO_HOST"); err != nil {
		return nil, err
	}
	return inferToken(s)
}

//go:build cgo

package interpose

import (
	"encoding/json"
	"fmt"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime/pjrt"
)

// savedProgram is stored with a serialized program.
type savedProgram struct {
	Manifest   *hook.Manifest `json:"manifest"`
	Replicas   int            `json:"replicas"`
	Partitions int            `json:"partitions"`
}

func save(p *pjrt.Replacement) ([]byte, error) {
	return json.Marshal(savedProgram{p.Manifest, p.Replicas, p.Partitions})
}

// Load implements pjrt.Interposer. It binds handlers by the current configuration. The configuration has the same
// settings as the configuration that compiled the program, because the platform's version, on which caches depend,
// contains them.
func (i *Interposer) Load(data []byte) (*pjrt.Replacement, error) {
	var s savedProgram
	if err := json.Unmarshal(data, &s); err != nil || s.Manifest == nil {
		return nil, fmt.Errorf("a serialized program runs untapped: its list of hooks is damaged: %w", err)
	}
	i.mu.Lock()
	i.loaded++
	i.mu.Unlock()
	p := &pjrt.Replacement{Manifest: s.Manifest, Handlers: i.handlers(), OnFailure: i.failed,
		Replicas: max(1, s.Replicas), Partitions: max(1, s.Partitions), Saved: data}
	var err error
	p.MayFail, err = i.bind(p.Handlers, p.Manifest, pluginCallback(nil))
	return p, err
}

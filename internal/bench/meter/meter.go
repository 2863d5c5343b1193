// Package meter has the clock, the memory counters, the peer processes and the rows of the measurements, which are the
// packages in the directories beside it.
package meter

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// Memory returns a line of this process's status on Linux in bytes, such as the peak VmHWM.
func Memory(name string) (int64, error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, rest, ok := strings.Cut(string(text), name+":")
	var kib int64
	if _, err := fmt.Sscan(rest, &kib); err != nil || !ok {
		return 0, fmt.Errorf("no %s in the process's status", name)
	}
	return kib << 10, nil
}

// Peer is a process that answers jobs, each an object of JSON.
type Peer struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *json.Decoder
}

// Start starts a script of Python as a peer.
func Start(python, script string, args ...string) (*Peer, error) {
	p := &Peer{cmd: exec.Command(python, append([]string{"-c", script}, args...)...)}
	p.cmd.Stderr = os.Stderr
	in, err := p.cmd.StdinPipe()
	out, err2 := p.cmd.StdoutPipe()
	if err := errors.Join(err, err2, p.cmd.Start()); err != nil {
		return nil, err
	}
	p.in, p.out = in, json.NewDecoder(out)
	return p, nil
}

// Ask sends a job and reads the answer. An answer with an error fails.
func (p *Peer) Ask(job map[string]any, answer any) error {
	var text json.RawMessage
	if err := errors.Join(json.NewEncoder(p.in).Encode(job), p.out.Decode(&text)); err != nil {
		return err
	}
	var failed struct{ Error string }
	if err := errors.Join(json.Unmarshal(text, &failed), json.Unmarshal(text, answer)); err != nil {
		return err
	}
	if failed.Error != "" {
		return errors.New(failed.Error)
	}
	return nil
}

// Close ends the peer.
func (p *Peer) Close() error { return errors.Join(p.in.Close(), p.cmd.Wait()) }

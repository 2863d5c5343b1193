//go:build cgo

package interpose

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/hlocb/hlocb/internal/events"
	"github.com/hlocb/hlocb/internal/probe"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/handlers"
)

// openSinks opens the files and the server that get the events.
func (i *Interposer) openSinks() error {
	process := filepath.Base(os.Args[0])
	if len(os.Args) > 1 {
		process = filepath.Base(os.Args[1]) // of an interpreter: its script
	}
	process = fmt.Sprintf("%s %d", process, os.Getpid())
	env := &events.Env{Process: process, Directory: i.config.path, Create: i.createOwn}
	for _, name := range i.config.Events {
		if events.IsRecord(name) {
			spec := "record:" + name
			h, err := i.handler(spec)
			if err != nil {
				return err
			}
			if r, ok := h.Handler.(*handlers.Record); ok {
				r.SetProcess(process)
			}
			i.sinks = append(i.sinks, &tolerantHandler{i: i, h: eventFile{h, i}})
			continue
		}
		sink, err := events.Open(name, env)
		if err != nil {
			return fmt.Errorf("events %s: %w", name, err)
		}
		i.addSink("events "+name, sink, process)
	}
	if i.config.Metrics == "" {
		return nil
	}
	m, url, err := events.ServeMetrics(i.config.Metrics)
	if err != nil { // another process of the program may have the port
		i.Warn(fmt.Errorf("metrics %s: %w", i.config.Metrics, err))
		return nil
	}
	fmt.Fprintf(i.host.Err, "hlocb: metrics at %s\n", url)
	i.addSink("metrics", m, process)
	return nil
}

// addSink lets a sink observe all hooks. It is flushed as a handler of Config.On is.
func (i *Interposer) addSink(spec string, s events.Sink, process string) {
	shared := &sharedHandler{Handler: events.NewObserver(s, process), observer: true}
	i.handlersOf[spec] = shared
	i.sinks = append(i.sinks, &tolerantSink{tolerantHandler{i: i, h: eventFile{shared, i}}, shared.Handler.(runtime.Timer)})
}

// createOwn creates a file of this process. If another process of the program has created it, the name of the new file
// has the number of this process, too.
func (i *Interposer) createOwn(name string) (io.WriteCloser, error) {
	path := i.config.path(name)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if !errors.Is(err, os.ErrExist) {
		return f, err
	}
	end := filepath.Ext(path)
	return os.OpenFile(fmt.Sprintf("%s-%d%s", path[:len(path)-len(end)], os.Getpid(), end), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// tolerantSink is a tolerantHandler of a sink that may need the time in handlers.
type tolerantSink struct {
	tolerantHandler
	timer runtime.Timer
}

// Timed implements runtime.Timer.
func (t *tolerantSink) Timed() bool { return t.timer.Timed() }

// Returned implements runtime.Timer.
func (t *tolerantSink) Returned(c *runtime.Call, took time.Duration) { t.timer.Returned(c, took) }

// eventFile writes each event of lines of JSON to the file at once, because a program may end without notice, by a
// fault or by os.Exit. Other sinks write every second. After a failure it writes nothing more.
type eventFile struct {
	*sharedHandler
	i *Interposer
}

// Handle implements runtime.Handler.
func (f eventFile) Handle(ctx context.Context, c *runtime.Call) error {
	if f.broken.Load() || probe.Asks(c.Site) {
		return nil
	}
	err := f.sharedHandler.Handle(ctx, c)
	if r, ok := f.Handler.(*handlers.Record); ok && err == nil {
		err = r.Flush()
	}
	if err == nil || f.broken.Swap(true) {
		return nil
	}
	if f.i.config.Strict {
		return err
	}
	f.i.Warn(err)
	return nil
}

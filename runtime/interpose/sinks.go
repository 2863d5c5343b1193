//go:build cgo

package interpose

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/internal/events"
	"github.com/hlocb/hlocb/internal/live"
	"github.com/hlocb/hlocb/internal/probe"
	"github.com/hlocb/hlocb/internal/view"
	"github.com/hlocb/hlocb/ir"
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
	if i.config.View {
		s, err := live.Listen(live.Options{Page: i.pages.write, Tap: i.tap})
		if err != nil {
			return fmt.Errorf("view: %w", err)
		}
		fmt.Fprintf(i.host.Err, "hlocb: view of %s at %s\n", process, s.URL())
		i.addSink("view", s, process)
		i.server = s
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
	o := events.NewObserver(s, process)
	i.observers = append(i.observers, o)
	shared := &sharedHandler{Handler: o, observer: true}
	i.handlersOf[spec] = shared
	i.sinks = append(i.sinks, &tolerantSink{tolerantHandler{i: i, h: eventFile{shared, i}}, shared.Handler.(runtime.Timer)})
}

// finishing is the time that browsers have to read the last events when the program ends.
const finishing = 2 * time.Second

// Close flushes the buffers of handlers, and closes the files and servers that get the events. Programs may still run:
// their later events are lost without an error.
func (i *Interposer) Close() {
	i.Flush()
	i.mu.Lock()
	observers, server := i.observers, i.server
	i.observers, i.server = nil, nil
	for _, h := range i.handlersOf {
		if _, ok := h.Handler.(*events.Observer); ok {
			h.broken.Store(true)
		}
	}
	var closers []io.Closer // of observers that write something at their end, such as the directory of an archive
	for _, spec := range slices.Sorted(maps.Keys(i.handlersOf)) {
		h := i.handlersOf[spec]
		_, flushed := h.Handler.(interface{ Flush() error })
		if c, ok := h.Handler.(io.Closer); ok && h.observer && !flushed && !h.closed.Swap(true) {
			closers = append(closers, c)
		}
	}
	i.mu.Unlock()
	for _, c := range closers {
		if err := c.Close(); err != nil {
			i.Warn(err)
		}
	}
	for _, o := range observers {
		if err := o.Close(); err != nil {
			i.Warn(err)
		}
	}
	if server != nil {
		if err := server.Finish(finishing); err != nil {
			i.Warn(err)
		}
	}
}

// pages are the pages of the programs that were compiled last.
type pages struct {
	mu   sync.Mutex
	list []programPage
	last int // number of the last one
}

// programPage is a page. It names the source of its events by eventsMark.
type programPage struct {
	name string // NUMBER NAME
	text []byte
}

const (
	eventsMark = "events-of-this-server"
	maxPages   = 32
)

// add adds the page of a program.
func (p *pages) add(name string, m *ir.Module, hooks *hook.Manifest) error {
	var text bytes.Buffer
	d := &view.Document{Title: name, Steps: []view.Step{{Name: name, Module: m}}, Live: eventsMark}
	if len(hooks.Sites) > 0 {
		d.Hooks = &view.Hooks{Manifest: hooks}
	}
	if err := view.Page(&text, d); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	p.list = append(p.list, programPage{fmt.Sprintf("%d %s", p.last, name), text.Bytes()})
	if len(p.list) > maxPages {
		p.list = p.list[1:]
	}
	return nil
}

// write writes the page of a program; if none is named and there are several, a page with links to them.
func (p *pages) write(w io.Writer, events, program string, link func(program string) string) error {
	p.mu.Lock()
	list := slices.Clone(p.list)
	p.mu.Unlock()
	for i := range list {
		if list[i].name == program || len(list) == 1 {
			_, err := w.Write(bytes.ReplaceAll(list[i].text, []byte(eventsMark), []byte(events)))
			return err
		}
	}
	var b strings.Builder
	b.WriteString("<!doctype html><meta charset=\"utf-8\"><link rel=\"icon\" href=\"data:,\"><title>hlocb</title><h1>Programs</h1>\n")
	if len(list) == 0 {
		b.WriteString("<p>No program was compiled yet. Load this page again.</p>\n")
	}
	for _, page := range slices.Backward(list) {
		fmt.Fprintf(&b, "<p><a href=\"%s\">%s</a></p>\n", html.EscapeString(link(page.name)), html.EscapeString(page.name))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// tap taps the values that a pattern selects in the programs that are compiled from now on.
func (i *Interposer) tap(pattern string) (string, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return "", err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.taps = append(slices.Clip(i.taps), probe.Tap{Patterns: []*regexp.Regexp{re}})
	i.tapped = append(slices.Clip(i.tapped), true)
	flag := live.TapFlag(pattern)
	fmt.Fprintf(i.host.Err, "hlocb: programs that are compiled from now on are tapped with %s\n", diag.Escape(flag))
	return flag + " (in programs that are compiled from now on)", nil
}

// createOwn creates a file of this process. If another process of the program has created it, the name of the new file
// has the number of this process, too.
func (i *Interposer) createOwn(name string) (io.WriteCloser, error) {
	path := i.config.path(name)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if !errors.Is(err, os.ErrExist) {
		return f, err
	}
	return os.OpenFile(ownName(path), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// wholeFile is a file that gets its name when it is closed.
type wholeFile struct {
	*os.File
	path string
}

// createWhole creates a file that gets its name when it is closed. As in createOwn, it takes no other process's name.
func (i *Interposer) createWhole(name string) (io.WriteCloser, error) {
	path := i.config.path(name)
	f, err := command.CreateTemp(path, 0o666)
	return wholeFile{f, path}, err
}

// Close implements io.Closer.
func (f wholeFile) Close() error {
	if err := f.File.Close(); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	// A link takes no other process's name. It fails on a file system without links, too.
	if os.Link(f.Name(), f.path) != nil {
		return os.Rename(f.Name(), ownName(f.path))
	}
	return os.Remove(f.Name())
}

// ownName returns the name of a file of this process, if another process has a file with the name path.
func ownName(path string) string {
	end := filepath.Ext(path)
	return fmt.Sprintf("%s-%d%s", path[:len(path)-len(end)], os.Getpid(), end)
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

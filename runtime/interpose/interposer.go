//go:build cgo

package interpose

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hlocb/hlocb/artifact"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/vhlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/internal/events"
	"github.com/hlocb/hlocb/internal/live"
	"github.com/hlocb/hlocb/internal/probe"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/internal/shardy"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/opt"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/runtime/handlers"
	"github.com/hlocb/hlocb/runtime/pjrt"
	"github.com/hlocb/hlocb/runtime/plugins"
)

// Interposer changes the programs of a framework as a Config says. It implements pjrt.Interposer. It is safe for
// concurrent use.
type Interposer struct {
	config   Config
	taps     []probe.Tap
	probes   probe.Handlers
	pipeline pass.Pipeline
	host     Host
	env      *handlers.Env
	dump     *dump
	messages *json.Encoder // of Config.Report; nil without

	mu         sync.Mutex
	handlersOf map[string]*sharedHandler // by specification
	sinks      []runtime.Handler         // of Config.Events
	observers  []*events.Observer        // of sinks, to be closed
	server     *live.Server              // of Config.View
	pages      pages                     // of Config.View
	searches   []search
	noted      map[string]bool // lines written
	tapped     []bool          // for each tap: a value matched
	bound      []bool          // for each On: a hook matched
	compiled   int             // programs
	loaded     int             // programs that were compiled by another process
	status     int             // for the program's exit code, if the configuration is strict
}

// sharedHandler is a handler that all programs use.
type sharedHandler struct {
	runtime.Handler
	observer bool
	broken   atomic.Bool // its file cannot be written, which was reported
	closed   atomic.Bool
}

// Handle implements runtime.Handler. An event after Close is lost without a warning.
func (s *sharedHandler) Handle(ctx context.Context, c *runtime.Call) error {
	if s.closed.Load() {
		return nil
	}
	err := s.Handler.Handle(ctx, c)
	if s.closed.Load() {
		return nil
	}
	return err
}

// MemoryUse implements runtime.MemoryUser.
func (s *sharedHandler) MemoryUse() runtime.MemoryUse { return runtime.UseOf(s.Handler) }

// CheckSite implements runtime.SiteChecker.
func (s *sharedHandler) CheckSite(site *hook.Site) error { return runtime.CheckSite(s.Handler, site) }

// Host holds the streams and handlers of the process in which an Interposer works.
type Host struct {
	Out io.Writer // output of handlers
	Err io.Writer // warnings and failures
	// Standard is the file "-" of handlers that write files; nil is Out.
	Standard io.Writer
	// Plugins finds the library LAPACK.
	Plugins plugins.Environment
	// Handlers are the program's own handlers, in Go. An error of one ends the run. Nil binds none.
	Handlers *runtime.Bindings
}

// Open returns the interposer that the environment configures: see FromEnvironment. A mistake in a strict configuration
// is an error. Otherwise Open reports the mistake on h.Err and returns an interposer that changes nothing.
func Open(getenv func(name string) string, h Host) (*Interposer, error) {
	config := FromEnvironment(getenv)
	i, err := New(config, h)
	if err == nil || config.Strict {
		return i, err
	}
	fmt.Fprintf(h.Err, "hlocb: %s\n", diag.EscapeLines(err.Error()))
	return New(Config{}, h)
}

// New returns an interposer.
func New(c Config, s Host) (*Interposer, error) {
	taps, err := c.taps()
	if err != nil {
		return nil, err
	}
	i := &Interposer{config: c, taps: taps, host: s, handlersOf: map[string]*sharedHandler{}, noted: map[string]bool{},
		tapped: make([]bool, len(taps)), bound: make([]bool, len(c.On))}
	if c.Passes != "" {
		if i.pipeline, err = pass.Parse(c.Passes, opt.Passes()); err != nil {
			return nil, fmt.Errorf("passes: %w", err)
		}
	}
	env := func(standard io.Writer) *handlers.Env {
		return &handlers.Env{Out: s.Out, Err: s.Err, Library: func(path, symbol string) (runtime.Handler, error) { return backends.LoadHandler(c.path(path), symbol) },
			Create: func(name string) (io.WriteCloser, error) {
				if name == "-" {
					return command.KeepOpen(standard), nil
				}
				return os.OpenFile(c.path(name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
			},
			Whole: func(name string) (io.WriteCloser, error) {
				if name == "-" {
					return command.KeepOpen(standard), nil
				}
				return i.createWhole(name)
			},
			Open: func(name string) (io.ReadCloser, error) { return os.Open(c.path(name)) },
		}
	}
	i.env, i.probes.Env = env(cmp.Or(s.Standard, s.Out)), env(s.Out)
	for _, spec := range c.On {
		if _, _, err := i.binding(spec); err != nil {
			return nil, err
		}
	}
	if err := i.openSinks(); err != nil {
		return nil, err
	}
	if c.Report != "" {
		w, err := i.env.Create(c.Report)
		if err != nil {
			return nil, fmt.Errorf("report: %w", err)
		}
		i.messages = json.NewEncoder(w)
		i.messages.SetEscapeHTML(false)
	}
	if c.Dump != "" {
		if i.dump, err = newDump(c.path(c.Dump)); err != nil {
			return nil, err
		}
	}
	return i, nil
}

// Wrap returns the address of a copy of a plugin's function table (a PJRT_Api) that the interposer sees. path names the
// plugin in messages.
func (i *Interposer) Wrap(api uintptr, path string) (uintptr, error) {
	return pjrt.Interpose(api, path, i)
}

// WrapPlugin loads a plugin and wraps its function table.
func (i *Interposer) WrapPlugin(path string) (uintptr, error) { return pjrt.InterposePlugin(path, i) }

// Targets implements pjrt.Interposer: it replaces the LAPACK of jaxlib, which only jaxlib's own client has.
func (i *Interposer) Targets() map[string]pjrt.Target { return backends.HostTargets(i.host.Plugins) }

// Settings implements pjrt.Interposer.
func (i *Interposer) Settings() string {
	if s := i.config.settings(); s != "" || i.host.Handlers == nil {
		return s
	}
	return "; hlocb"
}

// Warn implements pjrt.Interposer.
func (i *Interposer) Warn(err error) { i.note("warning: ", messageOf(Warning, err)) }

// report writes the failure of a handler that does not end the program.
func (i *Interposer) report(err error) { i.note("", messageOf(Failure, err)) }

// note writes a message. Equal messages are written once.
func (i *Interposer) note(prefix string, m *Message) {
	text := prefix + m.Text
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.noted[text] || len(i.noted) > maxNotes {
		return
	}
	i.noted[text] = true
	if len(i.noted) > maxNotes {
		text = "further messages are left out"
		m = &Message{Kind: Warning, Text: text}
	}
	if i.messages == nil || i.messages.Encode(m) != nil {
		fmt.Fprintf(i.host.Err, "hlocb: %s\n", text)
	}
}

// maxNotes limits the lines that are written.
const maxNotes = 1000

// handler returns the handler for a specification. It creates each handler once.
func (i *Interposer) handler(spec string) (*sharedHandler, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if h := i.handlersOf[spec]; h != nil {
		return h, nil
	}
	h, observer, err := handlers.Parse(spec, i.env)
	if err != nil {
		return nil, err
	}
	i.handlersOf[spec] = &sharedHandler{Handler: h, observer: observer}
	return i.handlersOf[spec], nil
}

// search is the search for a NaN in one program.
type search struct {
	*tolerantHandler
	manifest *hook.Manifest
}

// addSearch keeps a search for Flush, which reports the origin of a NaN that no op produced.
func (i *Interposer) addSearch(m *hook.Manifest, t *tolerantHandler) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.searches = append(i.searches, search{t, m})
}

// binding reads NAME=HANDLER.
func (i *Interposer) binding(spec string) (name string, h *sharedHandler, err error) {
	name, handler, ok := handlers.CutBinding(spec)
	if !ok {
		return "", nil, fmt.Errorf("on %s: expected NAME=HANDLER", spec)
	}
	if h, err = i.handler(handler); err != nil {
		return "", nil, fmt.Errorf("on %s: %w", spec, err)
	}
	return name, h, nil
}

// Flush flushes the buffers of handlers and reports what matched nothing. Close does that and more.
func (i *Interposer) Flush() {
	i.mu.Lock()
	list := slices.Collect(maps.Values(i.handlersOf))
	searches := i.searches
	i.searches = nil
	var idle []error
	if i.compiled > 0 && i.loaded == 0 {
		for n, spec := range i.config.Taps {
			if !i.tapped[n] {
				idle = append(idle, fmt.Errorf("tap %s matches no value", spec))
			}
		}
		for n, spec := range i.config.On {
			if !i.bound[n] {
				idle = append(idle, fmt.Errorf("on %s matches no hook", spec))
			}
		}
	}
	if len(idle) > 0 && i.status == 0 {
		i.status = exitIdle
	}
	i.mu.Unlock()
	for _, err := range idle {
		i.note("warning: ", messageOf(Idle, err))
	}
	for _, s := range searches {
		if found := i.probes.Origin(s.manifest); found != nil && !s.done.Load() {
			i.report(found)
		}
	}
	if err := i.probes.Flush(); err != nil {
		i.Warn(err)
	}
	for _, h := range list {
		if f, ok := h.Handler.(interface{ Flush() error }); ok && !h.broken.Load() {
			if err := f.Flush(); err != nil {
				i.Warn(err)
				i.mu.Lock()
				i.status = max(i.status, ExitFailed)
				i.mu.Unlock()
			}
		}
	}
}

// Compile implements pjrt.Interposer.
func (i *Interposer) Compile(code []byte, form string, options []byte) (*pjrt.Replacement, error) {
	if replicas, partitions := pjrt.DeviceCounts(options); i.Settings() == "" && max(replicas, partitions) <= 1 {
		return nil, nil // callbacks that fail end the run as they are
	}
	if form != "mlir" && form != "hlo" {
		return nil, fmt.Errorf("a program in the format %q runs untapped; mlir and hlo are read", form)
	}
	m, err := reader.Read(diag.NewSource("program", code))
	if err != nil {
		return nil, fmt.Errorf("a program that cannot be read runs untapped: %w", err)
	}
	name := moduleName(m)
	out, err := i.change(m, name, code, options)
	if err != nil {
		return nil, fmt.Errorf("program %s runs untapped: %w", name, err)
	}
	return out, nil
}

// moduleName returns the name of a module, such as jit_step.
func moduleName(m *ir.Module) string {
	return cmp.Or(view.String(m.Op().Attr(ir.SymbolName)), "program")
}

// prepared is a module after the user's passes, with the probes of the taps.
type prepared struct {
	files   *files
	probes  int
	changed bool // by passes
}

// prepare writes the module to the dump, runs passes over it and adds probes.
func (i *Interposer) prepare(ctx context.Context, m *ir.Module, name string, options []byte) (p prepared, err error) {
	if p.files, err = i.dump.program(name); err != nil {
		i.Warn(err)
	}
	if err := errors.Join(p.files.text(DumpedBefore, m), p.files.write(DumpedOptions, options)); err != nil {
		i.Warn(err)
	}
	if i.config.List {
		i.list(m, name)
	}
	if i.pipeline != nil {
		d := &pass.Driver{Verify: ir.VerifyContext, VerifyResult: true}
		if err := d.Run(pass.NewContext(ctx, m), i.pipeline); err != nil {
			return p, err
		}
		p.changed = true
	}
	i.mu.Lock()
	taps := i.taps
	i.mu.Unlock()
	added, err := probe.Add(m, taps)
	if err != nil {
		return p, err
	}
	i.mu.Lock()
	i.compiled++
	for n := range added {
		p.probes += len(added[n].IDs)
		i.tapped[n] = i.tapped[n] || len(added[n].IDs) > 0
	}
	i.mu.Unlock()
	if i.config.BisectNaN {
		ids, err := probe.AddOrigin(m, i.config.Inf)
		if err != nil {
			return p, err
		}
		p.probes += len(ids)
	}
	return p, nil
}

// change changes a module and returns the program to compile, or nil if nothing changes.
func (i *Interposer) change(m *ir.Module, name string, code, options []byte) (*pjrt.Replacement, error) {
	SetDevices(m, options)
	before := mainTypeOf(m)
	ctx := context.Background()
	p, err := i.prepare(ctx, m, name, options)
	if err != nil {
		return nil, err
	}
	files, changed := p.files, p.changed
	out := &pjrt.Replacement{Manifest: &hook.Manifest{}, Handlers: i.handlers(), OnFailure: i.failed}
	replicas, partitions := mhlo.Devices(m)
	out.Replicas, out.Partitions = max(1, replicas), max(1, partitions)
	tokens, several := jaxCallbacks(m)
	bound := i.config.sinks() || len(i.config.On) > 0 || i.host.Handlers != nil // handlers for the program's own hooks
	if p.probes > 0 || several || bound {
		rewrite := passes.RewriteHooks{}
		if !bound {
			rewrite.Formats = withoutServed(format.Builtin())
		}
		rewritten, err := passes.Rewrite(ctx, m, rewrite)
		if err != nil {
			return nil, err
		}
		out.Manifest = rewritten.Manifest
		if len(out.Manifest.Sites) > 0 {
			if out.MayFail, err = i.bind(out.Handlers, out.Manifest, pluginCallback(tokens)); err != nil {
				return nil, err
			}
			changed = true
		}
	}
	if i.config.View && len(out.Manifest.Sites) > 0 {
		if err := i.pages.add(name, m, out.Manifest); err != nil {
			i.Warn(err)
		}
	}
	if i.config.DumpArgs > 0 {
		out.Arguments = &pjrt.RunArguments{Run: i.config.DumpArgs, Types: before.arguments(), Take: files.arguments}
	}
	if !changed {
		if out.Arguments == nil {
			return nil, nil
		}
		out.Saved, err = save(out)
		return out, err
	}
	if before.typ != nil && !before.restore(m) {
		return nil, fmt.Errorf("the type of its main would change from %s to %s", before.typ, mainTypeOf(m).typ)
	}
	pjrt.PadHooks(m)
	if err := files.text(DumpedAfter, m); err != nil {
		i.Warn(err)
	}
	if out.Saved, err = save(out); err != nil {
		return nil, err
	}
	out.Code, err = encode(ctx, m, code)
	return out, err
}

// encode writes m in the form of the program that it was read from. It writes no HLO without the proven order of m.
func encode(ctx context.Context, m *ir.Module, code []byte) ([]byte, error) {
	if hlo.IsProto(code) {
		changed, err := reader.ToHLO(ctx, m)
		if err != nil {
			return nil, err
		}
		return changed.AppendProto(nil)
	}
	if shardy.ExportedIn(code) {
		m = m.Clone()
		if err := shardy.Export(m, nil); err != nil {
			return nil, err
		}
	}
	if !artifact.Is(code) {
		return print.Append(nil, m, reader.Written(m, print.Options{ListBooleans: true})), nil
	}
	var o artifact.Options
	o.Route, o.KeepOthers = artifact.XLAMixed, true
	head := code[:min(len(code), 100)]
	if at := bytes.Index(head, []byte("StableHLO_v")); at >= 0 {
		producer, _, _ := bytes.Cut(head[at:], []byte{0})
		o.Target, _ = vhlo.ProducerVersion(string(producer))
	}
	out, _, err := artifact.Append(nil, m, o)
	return out, err
}

// handlers returns new bindings for a program; bind adds to them.
func (i *Interposer) handlers() *runtime.Bindings {
	if i.host.Handlers == nil {
		return &runtime.Bindings{}
	}
	return i.host.Handlers.Clone()
}

// pluginCallback returns the handlers of JAX's callbacks on a plugin.
func pluginCallback(tokens map[uint64]bool) func(index uint64) runtime.Handler {
	return func(index uint64) runtime.Handler { return pjrt.PythonCallback{Index: index, Token: tokens[index]} }
}

// bind chooses the handlers of a program's hooks and reports whether one of them may end a run. python returns the
// handler of a callback of JAX.
func (i *Interposer) bind(b *runtime.Bindings, m *hook.Manifest, python func(index uint64) runtime.Handler) (mayFail bool, err error) {
	mayFail = i.config.Strict || i.host.Handlers != nil
	for _, h := range i.sinks {
		b.Observe("*", h)
	}
	var search *tolerantHandler // one for all probes of the search for a NaN: it reports once
	for n := range m.Sites {
		site := &m.Sites[n]
		if index, ok := pythonIndex(site); ok {
			b.Answer(site.ID.String(), python(index))
			mayFail = true
			continue
		}
		if probe.KindOf(site) == probe.Record && i.config.sinks() {
			continue
		}
		switch h, answer, err := i.probes.For(m, site); {
		case err != nil:
			return false, err
		case h == nil:
		case answer:
			b.Answer(site.ID.String(), h)
		case probe.SearchesOrigin(site):
			if search == nil {
				search = &tolerantHandler{i: i, h: h, once: true}
				i.addSearch(m, search)
			}
			b.Observe(site.ID.String(), search)
		default:
			b.Observe(site.ID.String(), &tolerantHandler{i: i, h: h, once: true})
		}
	}
	for n, spec := range i.config.On {
		name, h, err := i.binding(spec)
		if err != nil {
			return false, err
		}
		if h.observer {
			b.Observe(name, &tolerantHandler{i: i, h: h})
		} else {
			b.Answer(name, &tolerantHandler{i: i, h: h})
			mayFail = true
		}
		if !slices.Contains(b.Unmatched(m), name) {
			i.mu.Lock()
			i.bound[n] = true
			i.mu.Unlock()
		}
	}
	return mayFail, nil
}

// pythonIndex returns the index of the Python function that a hook of JAX calls.
func pythonIndex(site *hook.Site) (uint64, bool) {
	text, ok := strings.CutPrefix(site.SourceID, "index ")
	if !ok {
		return 0, false
	}
	index, err := strconv.ParseUint(text, 10, 64)
	return index, err == nil
}

// tolerantHandler keeps a run going when its handler fails, unless the configuration is strict. It reports the first
// failure of each hook.
type tolerantHandler struct {
	i      *Interposer
	h      runtime.Handler
	once   bool // after a failure the handler is not called again
	done   atomic.Bool
	failed sync.Map // of *hook.Site
}

// MemoryUse implements runtime.MemoryUser.
func (t *tolerantHandler) MemoryUse() runtime.MemoryUse { return runtime.UseOf(t.h) }

// CheckSite implements runtime.SiteChecker.
func (t *tolerantHandler) CheckSite(site *hook.Site) error { return runtime.CheckSite(t.h, site) }

// Handle implements runtime.Handler.
func (t *tolerantHandler) Handle(ctx context.Context, c *runtime.Call) (err error) {
	if t.once && t.done.Load() {
		return nil
	}
	defer func() {
		if v := recover(); v != nil {
			err = &runtime.PanicError{Value: v}
		}
		if err == nil {
			return
		}
		t.done.Store(true)
		if t.i.config.Strict || len(c.Results) > 0 {
			return // without the handler's results the run cannot continue
		}
		if found, ok := errors.AsType[*probe.OriginError](err); ok {
			t.i.report(found)
		} else if _, again := t.failed.LoadOrStore(c.Site, true); !again {
			t.i.report(c.HookError(err))
		}
		err = nil
	}()
	return runtime.Handle(ctx, t.h, c)
}

// failed receives the failure of a hook that ended a run.
func (i *Interposer) failed(err error) {
	if errors.As(err, new(*pjrt.PythonError)) {
		return // the framework reports exceptions
	}
	i.report(err)
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.status = ExitFailed; errors.As(err, new(*runtime.TimeoutError)) {
		i.status = exitTimeout
	}
}

// ExitCode returns the code with which the program should end: 3 if a handler failed, 4 if a handler did not return in
// time, 2 if a tap or handler matched nothing, else 0. The framework may not notice these failures. The code is 0
// unless the configuration is strict.
func (i *Interposer) ExitCode() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.config.Strict {
		return 0
	}
	return i.status
}

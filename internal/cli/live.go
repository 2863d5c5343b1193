package cli

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"regexp"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/internal/live"
	"github.com/hlocb/hlocb/internal/view"
	"github.com/hlocb/hlocb/passes"
)

// watch starts the server of --view, whose page shows a program and its events.
func (f *bindFlags) watch(a *app, in string, p *hlocb.Program, opts passes.RewriteHooks) error {
	title := filepath.Base(in)
	d := &view.Document{Title: title, Steps: []view.Step{{Name: title, Module: p.Module()}}, Recordings: f.recordings}
	if len(p.Hooks()) > 0 {
		d.Hooks = hooksOf(p, opts)
	}
	s, err := a.serve(d, "in the next run")
	if err != nil {
		return err
	}
	f.server = s
	f.observe(s)
	return nil
}

// serve starts a server of a page. It writes the page now, because a program may change while it runs.
func (a *app) serve(d *view.Document, next string) (*live.Server, error) {
	const mark = "events-of-this-server"
	var page bytes.Buffer
	d.Live = mark
	if err := view.Page(&page, d); err != nil {
		return nil, err
	}
	s, err := live.Listen(live.Options{
		Page: func(w io.Writer, url, _ string, _ func(string) string) error {
			_, err := w.Write(bytes.ReplaceAll(page.Bytes(), []byte(mark), []byte(url)))
			return err
		},
		Tap: func(pattern string) (string, error) {
			if _, err := regexp.Compile(pattern); err != nil {
				return "", err
			}
			line := live.TapFlag(pattern)
			a.note("add %s to the command to tap the value %s", line, next)
			return line, nil
		},
	})
	if err == nil {
		a.note("view at %s", s.URL())
	}
	return s, err
}

// endView keeps the server of --view while somebody looks: on a terminal until Ctrl-C, otherwise while a browser shows
// the page.
func (f *bindFlags) endView(ctx context.Context, a *app) error {
	if f.server == nil {
		return nil
	}
	return a.keep(ctx, f.server)
}

// keep serves a page while somebody looks, and stops the server.
func (a *app) keep(ctx context.Context, s *live.Server) error {
	if err := s.Close(); err != nil { // the last events
		return err
	}
	if s.Watched() || a.Terminal() != nil {
		a.note("the program has ended; Ctrl-C ends the view")
	}
	if a.Terminal() != nil {
		<-ctx.Done()
	} else {
		s.Wait(ctx)
	}
	return s.Stop()
}

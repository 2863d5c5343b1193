package viewtest

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/hlocb/hlocb/internal/view"
)

// tab is a tab of a headless Chromium.
type tab struct {
	ctx      context.Context
	t        *testing.T
	own      string // the server of the page; "" for a file
	careless bool   // collect nothing: the test makes requests that fail

	mu       sync.Mutex
	mistakes []string // errors and warnings of the console, exceptions, requests to other places than files
}

// open opens a tab, or skips the test if there is no Chromium.
func open(t *testing.T, more ...chromedp.ExecAllocatorOption) *tab {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		t.Skip("skip: no Chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.WindowSize(1600, 1000), chromedp.UserDataDir(t.TempDir()))
	options = append(options, more...)
	b := &tab{t: t}
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stop)
	b.ctx, stop = chromedp.NewContext(ctx, chromedp.WithListener(b.listen))
	t.Cleanup(stop)
	b.run(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		if _, err := cdp.Call(ctx, t, log.Enable, cdp.Empty{}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, t, network.Enable, network.EnableParams{})
		return err
	}))
	return b
}

// listen collects what should not happen.
func (b *tab) listen(e any) {
	mistake := ""
	switch e := e.(type) {
	case *runtime.EventExceptionThrown:
		mistake = "exception: " + e.ExceptionDetails.Text
		if x := e.ExceptionDetails.Exception; x != nil {
			mistake += " " + x.Description
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type != "log" {
			mistake = fmt.Sprintf("console: %s", e.Type)
		}
	case *log.EventEntryAdded: // such as a violation of the page's content security policy
		if e.Entry.Level == "error" && !strings.Contains(e.Entry.Text, "ERR_") {
			mistake = fmt.Sprintf("log: %s %s", e.Entry.Text, e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		if url := e.Request.URL; !strings.HasPrefix(url, "file:") && url != "about:blank" && (b.own == "" || !strings.HasPrefix(url, b.own+"/")) {
			mistake = "request: " + url
		}
	}
	if mistake != "" && !b.careless {
		b.mu.Lock()
		b.mistakes = append(b.mistakes, mistake)
		b.mu.Unlock()
	}
}

func (b *tab) run(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// keys presses keys.
func (b *tab) keys(list ...string) {
	b.t.Helper()
	for _, k := range list {
		b.run(chromedp.KeyEvent(k))
	}
}

// focus moves the focus to the element with an id.
func (b *tab) focus(id string) { b.t.Helper(); b.run(chromedp.Focus(chromedp.CSS("#" + id))) }

// show opens a file of a page.
func (b *tab) show(path, fragment string) {
	b.t.Helper()
	b.visit("file://" + path + fragment)
}

// visit opens a page, waits for its first picture and fails the test if something went wrong in it.
func (b *tab) visit(url string) {
	b.t.Helper()
	b.run(chromedp.Navigate("about:blank"), chromedp.Navigate(url), chromedp.WaitReady(chromedp.CSS(`html[data-ready="1"]`)))
	eval[bool](b, `new Promise((done) => { const wait = () => hlocb.painted ? done(true) : requestAnimationFrame(wait); wait(); })`)
	b.check()
}

// check fails the test if something went wrong in the page.
func (b *tab) check() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range b.mistakes {
		b.t.Error(m)
	}
	b.mistakes = nil
}

// eval evaluates a script and returns its result, of a promise its value.
func eval[T any](b *tab, script string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// write writes a page to a file.
func write(t *testing.T, d *view.Document) string {
	t.Helper()
	var b bytes.Buffer
	if err := view.Page(&b, d); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

var look = flag.String("look", "", "write pictures of tested pages to this folder, for a person who looks at them")

// shot takes a picture, with -look.
func shot(b *tab, name string) {
	b.t.Helper()
	if *look == "" {
		return
	}
	picture(b, filepath.Join(*look, name+".png"), page.CaptureScreenshotParams{Format: "png"})
}

// picture writes a picture of the window to a file.
func picture(b *tab, path string, params page.CaptureScreenshotParams) {
	b.t.Helper()
	taken, err := chromedp.Run(b.ctx, func(ctx context.Context, t *chromedp.Target) (page.CaptureScreenshotResult, error) {
		return cdp.Call(ctx, t, page.CaptureScreenshot, params)
	})
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, taken.Data, 0o666); err != nil {
		b.t.Fatal(err)
	}
}

package view

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"io/fs"
	"strings"
)

//go:embed assets
var embedded embed.FS

// scripts are the page's scripts in the order of their use.
func scripts() []string {
	return []string{"uplot/uPlot.iife.min.js", "model.js", "layout.js", "draw.js", "text.js", "outline.js", "search.js", "parquet.js", "values.js", "passes.js", "main.js"}
}

// styles are the page's style sheets.
func styles() []string { return []string{"uplot/uPlot.min.css", "style.css"} }

// Assets returns the files of the page: page.html, the scripts and the style sheets.
func Assets() fs.FS {
	sub, err := fs.Sub(embedded, "assets")
	if err != nil {
		panic(err) // the directory is part of the program
	}
	return sub
}

// Page writes one HTML file that shows d. The file contains everything that it needs. Its content security policy
// allows only its own scripts, and no connection but one to the server of Live.
func Page(w io.Writer, d *Document) error {
	data, steps, err := encode(d)
	if err != nil {
		return err
	}
	var css, js, blocks bytes.Buffer
	var policy struct{ style, script []string }
	for _, name := range styles() {
		text := asset(name)
		fmt.Fprintf(&css, "<style>%s</style>\n", text)
		policy.style = append(policy.style, hash(text))
	}
	for _, name := range scripts() {
		text := asset(name)
		fmt.Fprintf(&js, "<script>%s</script>\n", text)
		policy.script = append(policy.script, hash(text))
	}
	block := func(id string, v any) error {
		text, err := json.Marshal(v) // escapes <, > and &
		if err != nil {
			return err
		}
		fmt.Fprintf(&blocks, "<script type=\"application/json\" id=\"%s\">%s</script>\n", id, text)
		return nil
	}
	if err := block("data", data); err != nil {
		return err
	}
	for i := range steps {
		if err := block(fmt.Sprintf("step-%d", i), steps[i]); err != nil {
			return err
		}
	}
	connect := "'none'"
	if d.Live != "" {
		connect = "'self'"
	}
	csp := fmt.Sprintf("default-src 'none'; style-src %s; script-src %s; connect-src %s; img-src data:; base-uri 'none'; form-action 'none'",
		strings.Join(policy.style, " "), strings.Join(policy.script, " "), connect)
	page := string(asset("page.html"))
	for _, x := range []struct {
		mark string
		text string
	}{{"{{policy}}", csp}, {"{{title}}", html.EscapeString(d.Title)}, {"{{styles}}", css.String()}} {
		page = strings.Replace(page, x.mark, x.text, 1)
	}
	head, tail, _ := strings.Cut(page, "{{scripts}}")
	for _, text := range [][]byte{[]byte(head), blocks.Bytes(), js.Bytes(), []byte(tail)} {
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	return nil
}

func asset(name string) []byte {
	text, err := fs.ReadFile(Assets(), name)
	if err != nil {
		panic(err)
	}
	return text
}

func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

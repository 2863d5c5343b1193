package main

import (
	"archive/zip"
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hlocb/hlocb/internal/launch"
)

// entry is a file of a wheel or an archive.
type entry struct {
	name       string
	data       []byte
	executable bool
}

// wheel writes the wheel of a platform: the package, the command as a script, the libraries as data below lib/hlocb,
// where the command finds them. The format is that of
// https://packaging.python.org/en/latest/specifications/binary-distribution-format.
func wheel(b *build, out, version string) (string, error) {
	entries, err := pythonFiles()
	if err != nil {
		return "", err
	}
	data := "hlocb-" + version + ".data/"
	info := "hlocb-" + version + ".dist-info/"
	programs, err := b.programs(data+"scripts/", data+"data/lib/hlocb/")
	if err != nil {
		return "", err
	}
	entries = append(entries, programs...)
	notices, err := b.notices(info+"licenses/", info+"sboms/", version)
	if err != nil {
		return "", err
	}
	entries = append(entries, notices...)
	readme, err := os.ReadFile("python/README.md")
	if err != nil {
		return "", err
	}
	var tags strings.Builder
	for _, t := range b.tags {
		fmt.Fprintf(&tags, "Tag: py3-none-%s\n", t)
	}
	entries = append(entries,
		entry{name: info + "METADATA", data: fmt.Appendf(nil, metadata, version, readme)},
		entry{name: info + "WHEEL", data: []byte("Wheel-Version: 1.0\nGenerator: hlocb\nRoot-Is-Purelib: false\n" + tags.String())},
		entry{name: info + "entry_points.txt", data: []byte("[jax_plugins]\nhlocb = hlocb._jax\n\n[torch_xla.plugins]\nhlocb = hlocb._torch:Plugin\n")})
	var record strings.Builder
	for _, e := range entries {
		sum := sha256.Sum256(e.data)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", e.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(e.data))
	}
	entries = append(entries, entry{name: info + "RECORD", data: []byte(record.String() + info + "RECORD,,\n")})
	file := filepath.Join(out, "hlocb-"+version+"-py3-none-"+strings.Join(b.tags, ".")+".whl")
	return file, writeZip(file, entries)
}

// metadata has the version and the text for the package's page.
const metadata = `Metadata-Version: 2.4
Name: hlocb
Version: %s
Summary: See, record and compare the values inside a compiled ML program
License-Expression: Apache-2.0
License-File: LICENSE
Keywords: jax,xla,stablehlo,hlo,pjrt,compiler,debugging
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Software Development :: Debuggers
Requires-Python: >=3.10
Requires-Dist: numpy
Description-Content-Type: text/markdown

%s`

// pythonFiles returns the files of the Python package.
func pythonFiles() (out []entry, err error) {
	err = fs.WalkDir(os.DirFS("python"), "hlocb", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains([]string{".py", ".typed"}, path.Ext(name)) {
			return err
		}
		b, err := os.ReadFile(filepath.Join("python", name))
		out = append(out, entry{name: name, data: b})
		return err
	})
	return out, err
}

// programs returns the command and the libraries.
func (b *build) programs(bin, lib string) (out []entry, err error) {
	text, err := os.ReadFile(b.command)
	if err != nil {
		return nil, err
	}
	out = append(out, entry{bin + "hlocb", text, true})
	for _, name := range slices.Sorted(maps.Keys(b.libraries)) {
		text, err := os.ReadFile(b.libraries[name])
		if err != nil {
			return nil, err
		}
		out = append(out, entry{lib + name, text, true})
	}
	return out, nil
}

// notices returns the licenses of hlocb and of the modules in its programs, and a bill of materials (CycloneDX).
func (b *build) notices(licenses, sboms, version string) ([]entry, error) {
	own, err := os.ReadFile("LICENSE")
	if err != nil {
		return nil, err
	}
	out := []entry{{name: licenses + "LICENSE", data: own}}
	modules := map[string]string{} // versions
	programs := []string{b.command}
	if file := b.libraries[launch.PluginFile]; file != "" { // the other libraries are of C alone
		programs = append(programs, file)
	}
	for _, file := range programs {
		info, err := buildinfo.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, d := range info.Deps {
			modules[d.Path] = d.Version
		}
	}
	type component struct {
		Type    string `json:"type"`
		Name    string `json:"name"`
		Version string `json:"version"`
		PURL    string `json:"purl"`
	}
	components := []component{}
	for _, m := range slices.Sorted(maps.Keys(modules)) {
		v := modules[m]
		components = append(components, component{"library", m, v, "pkg:golang/" + m + "@" + v})
		dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", m).Output()
		if err != nil {
			return nil, fmt.Errorf("go list -m %s: %w", m, err)
		}
		names, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "LICENSE*"))
		if err != nil || len(names) == 0 {
			return nil, fmt.Errorf("module %s has no license", m)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			out = append(out, entry{name: licenses + m + "/" + filepath.Base(name), data: text})
		}
	}
	bom, err := json.MarshalIndent(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata":   map[string]any{"component": component{"application", "hlocb", version, "pkg:pypi/hlocb@" + version}},
		"components": components,
	}, "", "  ")
	return append(out, entry{name: sboms + "hlocb.cdx.json", data: append(bom, '\n')}), err
}

// epoch is the time of all files: the first that a zip archive can state.
var epoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// writeZip writes a zip archive with entries in the order of their names. pip makes a file executable only if its mode
// says that it is a regular file, too.
func writeZip(file string, entries []entry) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, f.Close()) }()
	z := zip.NewWriter(f)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: epoch}
		h.SetMode(0o644)
		if e.executable {
			h.SetMode(0o755)
		}
		w, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := w.Write(e.data); err != nil {
			return err
		}
	}
	return z.Close()
}

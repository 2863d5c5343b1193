package plugins

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// Environment holds everything that the search for plugins depends on.
type Environment struct {
	// Getenv looks up an environment variable; nil is an empty environment. The search reads HLOCB_CPU_PLUGIN and
	// HLOCB_CUDA_PLUGIN (a path each), PJRT_NAMES_AND_LIBRARY_PATHS (name:path,...), PJRT_PLUGIN_LIBRARY_PATH
	// (directories), VIRTUAL_ENV, CONDA_PREFIX and PYTHONPATH (places of Python packages) and PATH (python3).
	Getenv func(string) string
	// CacheDir is Install's directory, usually os.UserCacheDir()/hlocb/plugins; empty is none.
	CacheDir string
	// HomeDir is the user's home directory; empty skips the places below it.
	HomeDir string
	// Root is a prefix of the system places (/usr/local/lib/...); empty is /.
	Root string
}

// System returns the environment of this process: its variables, the user's home directory and cache.
func System() Environment {
	env := Environment{Getenv: os.Getenv}
	if dir, err := os.UserCacheDir(); err == nil {
		env.CacheDir = filepath.Join(dir, "hlocb", "plugins")
	}
	if dir, err := os.UserHomeDir(); err == nil {
		env.HomeDir = dir
	}
	return env
}

func (e Environment) getenv(key string) string {
	if e.Getenv == nil {
		return ""
	}
	return e.Getenv(key)
}

// Plugin is a plugin file that was found. It has not been loaded, so it may not be a plugin.
type Plugin struct {
	Name    string `json:"name"`              // the platform, guessed from the file name: cpu, cuda, rocm, tpu, ...
	Version string `json:"version,omitempty"` // the version of its package if known
	Origin  string `json:"found"`             // the place where it was found, for messages
	Path    string `json:"path"`
	Chosen  bool   `json:"-"` // named by the user, so no other plugin may replace it
}

// Place is a place where the search looks for plugins.
type Place struct {
	Name  string `json:"name"`  // a variable of the environment, or a directory
	State string `json:"state"` // "not set", "no such directory", "2 plugins", or a variable's value
}

// NotFoundError lists the places where the search found no plugin.
type NotFoundError struct {
	Name   string
	Places []Place
}

func (e *NotFoundError) Error() string {
	hint := ""
	if p, ok := packageNamed(e.Name); ok && !p.Library {
		hint = fmt.Sprintf("; 'hlocb plugin install %s' installs one", e.Name)
	} else if !strings.Contains(e.Name, "@") {
		for _, p := range Packages() {
			if platformOf(p.Name) == e.Name { // the last package is the newest
				hint = fmt.Sprintf("; 'hlocb plugin install %s' installs one", p.Name)
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "no PJRT plugin for %q%s; looked in:", e.Name, hint)
	for _, p := range e.Places {
		fmt.Fprintf(&b, "\n  %s: %s", p.Name, p.State)
	}
	return b.String()
}

// IsPath reports whether a backend's name is the path of a plugin and not a platform.
func IsPath(name string) bool {
	return strings.ContainsRune(name, filepath.Separator) || strings.ContainsRune(name, '/') || filepath.Ext(name) == ".so" || filepath.Ext(name) == ".dylib"
}

// Find returns the plugins for a platform ("cpu", "cuda", ...), the preferred one first, or the plugin at a path.
// PLATFORM@VERSION finds only plugins of that version. The error is a *NotFoundError that lists the places.
func (e Environment) Find(name string) ([]Plugin, error) {
	if IsPath(name) {
		return []Plugin{{Name: platformOf(name), Path: name, Origin: "named by path", Chosen: true}}, nil
	}
	var found []Plugin
	all, places := e.search()
	platform, version, pinned := strings.Cut(name, "@")
	for _, p := range all {
		if p.Name == platform && (!pinned || p.Version == version) {
			found = append(found, p)
			if p.Chosen {
				return found[len(found)-1:], nil
			}
		}
	}
	if len(found) == 0 {
		return nil, &NotFoundError{name, places}
	}
	return found, nil
}

// List returns every plugin that the search finds, preferred plugins first, each file once.
func (e Environment) List() []Plugin {
	found, _ := e.search()
	return found
}

// Places returns every place of the search, in order, with its state.
func (e Environment) Places() []Place {
	_, places := e.search()
	return places
}

// search visits the usual places. It returns the plugins and the state of each place.
func (e Environment) search() (found []Plugin, places []Place) {
	seen := map[string]bool{}
	add := func(p Plugin) {
		key := p.Path
		if real, err := filepath.EvalSymlinks(p.Path); err == nil {
			key = real
		}
		if !seen[key] {
			seen[key] = true
			found = append(found, p)
		}
	}
	variable := func(key string) string {
		value := e.getenv(key)
		places = append(places, Place{key, cmp.Or(value, "not set")})
		return value
	}
	directory := func(dir string, visit func()) {
		n := len(found)
		visit()
		places = append(places, describe(dir, len(found)-n))
	}

	for _, v := range []struct{ key, name string }{{"HLOCB_CPU_PLUGIN", "cpu"}, {"HLOCB_CUDA_PLUGIN", "cuda"}} {
		if path := variable(v.key); path != "" {
			add(Plugin{Name: v.name, Path: path, Origin: v.key, Chosen: true})
		}
	}

	const named = "PJRT_NAMES_AND_LIBRARY_PATHS"
	for entry := range strings.SplitSeq(variable(named), ",") {
		if name, path, ok := strings.Cut(strings.TrimSpace(entry), ":"); ok && path != "" {
			add(Plugin{Name: name, Path: path, Origin: named})
		}
	}

	if e.CacheDir != "" {
		directory(e.CacheDir, func() {
			dirs := matching(e.CacheDir, "*", "*")
			sort.SliceStable(dirs, func(i, j int) bool {
				a, b := isDefault(dirs[i]), isDefault(dirs[j])
				return a && !b || a == b && newer(filepath.Base(dirs[i]), filepath.Base(dirs[j]))
			})
			for _, dir := range dirs {
				name := filepath.Base(filepath.Dir(dir))
				if pkg, ok := packageNamed(name); ok && pkg.Library {
					continue
				}
				for _, path := range libraries(dir) {
					add(Plugin{Name: platformOf(name), Path: path, Origin: "installed by hlocb", Version: filepath.Base(dir)})
				}
			}
		})
	}

	var dirs []string
	if list := e.getenv("PJRT_PLUGIN_LIBRARY_PATH"); list != "" {
		dirs = append(dirs, filepath.SplitList(list)...)
	} else {
		places = append(places, Place{"PJRT_PLUGIN_LIBRARY_PATH", "not set"})
	}
	if e.HomeDir != "" {
		dirs = append(dirs, filepath.Join(e.HomeDir, ".local", "lib", "go-xla"))
	}
	dirs = append(dirs, filepath.Join(e.Root+"/", "usr", "local", "lib", "go-xla"))
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		directory(dir, func() {
			for _, path := range libraries(dir) {
				add(Plugin{Name: platformOf(path), Path: path, Origin: dir})
			}
		})
	}

	for _, site := range e.pythonDirs() {
		for _, namespace := range []string{"jax_plugins", "xla_plugins"} {
			dir := filepath.Join(site, namespace)
			directory(dir, func() {
				for _, pkg := range matching(dir, "*") {
					for _, path := range libraries(pkg) {
						add(Plugin{Name: platformOf(filepath.Base(pkg) + "/" + filepath.Base(path)), Path: path,
							Origin: "Python package " + namespace + "." + filepath.Base(pkg)})
					}
				}
			})
		}
		if path := filepath.Join(site, "libtpu", "libtpu.so"); isFile(path) {
			add(Plugin{Name: "tpu", Path: path, Origin: "Python package libtpu"})
			places = append(places, Place{filepath.Dir(path), "1 plugin"})
		}
	}
	return found, places
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func describe(dir string, n int) Place {
	if _, err := os.Stat(dir); err != nil {
		return Place{dir, "no such directory"}
	}
	if n == 1 {
		return Place{dir, "1 plugin"}
	}
	return Place{dir, fmt.Sprintf("%d plugins", n)}
}

// matching returns the sorted paths below dir whose parts match patterns, one for each level. A part that starts with a
// dot matches no pattern.
func matching(dir string, patterns ...string) []string {
	if len(patterns) == 0 {
		return []string{dir}
	}
	entries, _ := os.ReadDir(dir) // sorted
	var out []string
	for _, entry := range entries {
		if ok, _ := filepath.Match(patterns[0], entry.Name()); ok && !strings.HasPrefix(entry.Name(), ".") {
			out = append(out, matching(filepath.Join(dir, entry.Name()), patterns[1:]...)...)
		}
	}
	return out
}

// libraries returns the files of a directory that have names of plugins.
func libraries(dir string) []string {
	entries, _ := os.ReadDir(dir) // sorted
	var out []string
	for _, entry := range entries {
		name := entry.Name()
		ext := filepath.Ext(name)
		if (ext == ".so" || ext == ".dylib") && (strings.Contains(name, "pjrt") || strings.Contains(name, "plugin") || name == "libtpu.so") {
			out = append(out, filepath.Join(dir, name))
		}
	}
	return out
}

// platformOf guesses the platform from a file's or a package's name.
func platformOf(name string) string {
	base := strings.ToLower(name)
	if i := strings.LastIndexByte(base, '/'); i >= 0 && !strings.Contains(base[:i], "xla_") {
		base = base[i+1:]
	}
	for _, p := range []string{"cuda", "rocm", "tpu", "cpu", "metal", "sycl"} {
		if strings.Contains(base, p) {
			return p
		}
	}
	base = strings.TrimSuffix(strings.TrimSuffix(filepath.Base(base), ".so"), ".dylib")
	base = strings.TrimPrefix(strings.TrimPrefix(base, "pjrt_c_api_"), "pjrt_plugin_")
	return strings.TrimSuffix(base, "_plugin")
}

// pythonDirs returns the directories that may hold Python packages, without running Python.
func (e Environment) pythonDirs() []string {
	var roots, dirs []string
	for _, p := range filepath.SplitList(e.getenv("PYTHONPATH")) {
		if p != "" {
			dirs = append(dirs, p)
		}
	}
	for _, key := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if p := e.getenv(key); p != "" {
			roots = append(roots, p)
		}
	}
	for _, bin := range filepath.SplitList(e.getenv("PATH")) {
		if _, err := os.Stat(filepath.Join(bin, "python3")); bin != "" && err == nil {
			roots = append(roots, filepath.Dir(bin))
		}
	}
	if e.HomeDir != "" {
		roots = append(roots, filepath.Join(e.HomeDir, ".local"))
	}
	roots = append(roots, filepath.Join(e.Root+"/", "usr", "local"), filepath.Join(e.Root+"/", "usr"))
	for _, root := range roots {
		for _, packages := range []string{"site-packages", "dist-packages"} {
			dirs = append(dirs, matching(root, "lib", "python3*", packages)...)
		}
	}
	var unique []string
	seen := map[string]bool{}
	for _, dir := range dirs {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			real = dir
		}
		if !seen[real] {
			seen[real] = true
			unique = append(unique, dir)
		}
	}
	return unique
}

// isDefault reports whether a directory NAME/VERSION holds the version that Install installs by default.
func isDefault(dir string) bool {
	pkg, ok := packageNamed(filepath.Base(filepath.Dir(dir)))
	return ok && pkg.Version == filepath.Base(dir)
}

// newer compares dotted version numbers. It reports whether a is higher than b.
func newer(a, b string) bool {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := 0; i < len(as) && i < len(bs); i++ {
		if as[i] != bs[i] {
			if len(as[i]) != len(bs[i]) {
				return len(as[i]) > len(bs[i])
			}
			return as[i] > bs[i]
		}
	}
	return len(as) > len(bs)
}

package plugins

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Installed returns the directories of the plugins and libraries that Install made, in order.
func (e Environment) Installed() []string {
	if e.CacheDir == "" {
		return nil
	}
	var out []string
	names, _ := os.ReadDir(e.CacheDir)
	for _, name := range names {
		versions, _ := os.ReadDir(filepath.Join(e.CacheDir, name.Name()))
		for _, v := range versions {
			dir := filepath.Join(e.CacheDir, name.Name(), v.Name())
			if _, err := os.Stat(filepath.Join(dir, "plugin.json")); err == nil && v.IsDir() {
				out = append(out, dir)
			}
		}
	}
	return out
}

// Remove removes an installed plugin: all versions of NAME, or the version of NAME@VERSION. It returns the directories
// that it removed, and an error that is fs.ErrNotExist if the plugin is not installed.
func Remove(ctx context.Context, name, cacheDir string) ([]string, error) {
	name, version, exact := strings.Cut(name, "@")
	var out []string
	for _, dir := range (Environment{CacheDir: cacheDir}).Installed() {
		if filepath.Base(filepath.Dir(dir)) != name || exact && filepath.Base(dir) != version {
			continue
		}
		unlock, err := lock(ctx, filepath.Join(dir, ".lock"))
		if err != nil {
			return out, err
		}
		// Remove the receipt first: a plugin without a receipt is not installed, and Clean removes it.
		err = errors.Join(os.Remove(filepath.Join(dir, "plugin.json")), os.RemoveAll(dir))
		unlock()
		if err != nil {
			return out, err
		}
		_ = os.Remove(filepath.Dir(dir)) // if it is empty
		out = append(out, dir)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("plugin %q is not installed: %w", name, fs.ErrNotExist)
	}
	return out, nil
}

// Clean removes the directories of installations that were interrupted, and returns them.
func Clean(ctx context.Context, cacheDir string) ([]string, error) {
	installed := (Environment{CacheDir: cacheDir}).Installed()
	var out []string
	names, _ := os.ReadDir(cacheDir)
	for _, name := range names {
		if _, known := packageNamed(name.Name()); !known || !name.IsDir() {
			continue // not hlocb's
		}
		versions, _ := os.ReadDir(filepath.Join(cacheDir, name.Name()))
		for _, v := range versions {
			dir := filepath.Join(cacheDir, name.Name(), v.Name())
			if !v.IsDir() || slices.Contains(installed, dir) {
				continue
			}
			unlock, err := lock(ctx, filepath.Join(dir, ".lock")) // an installation in progress holds it
			if err != nil {
				return out, err
			}
			err = os.RemoveAll(dir)
			unlock()
			if err != nil {
				return out, err
			}
			out = append(out, dir)
		}
	}
	return out, nil
}

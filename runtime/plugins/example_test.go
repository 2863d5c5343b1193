package plugins_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/hlocb/hlocb/runtime/plugins"
)

// Find looks in the places that the environment names.
func ExampleEnvironment_Find() {
	dir, err := os.MkdirTemp("", "plugins-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "pjrt_c_api_cpu_plugin.so"), nil, 0o644); err != nil {
		fmt.Println(err)
		return
	}
	env := plugins.Environment{Root: dir, Getenv: func(key string) string {
		return map[string]string{"PJRT_PLUGIN_LIBRARY_PATH": dir}[key]
	}}
	found, err := env.Find("cpu")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(found[0].Name, filepath.Base(found[0].Path))
	// Output: cpu pjrt_c_api_cpu_plugin.so
}

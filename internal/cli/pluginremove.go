package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/internal/launch"
	"github.com/hlocb/hlocb/runtime/plugins"
)

func (a *app) pluginRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "remove NAME[@VERSION]",
		Aliases: []string{"rm", "uninstall"},
		Short:   "Remove a plugin that hlocb installed",
		Long: `Remove a plugin that 'hlocb plugin install' put into the user's cache: one version, or all versions of NAME.

Other plugins that 'hlocb plugin list' shows are not hlocb's to remove.`,
		Example:           "  hlocb plugin remove cpu\n  hlocb plugin remove cpu@0.0.1",
		Args:              command.Args("NAME"),
		ValidArgsFunction: a.completePlugins,
		RunE: command.Body(func(cmd *cobra.Command, args []string) error {
			sizes := map[string]int64{}
			for _, dir := range a.env.Installed() {
				sizes[dir] = sizeOf(dir)
			}
			removed, err := plugins.Remove(cmd.Context(), args[0], a.env.CacheDir)
			for _, dir := range removed {
				fmt.Fprintf(a.Out, "removed %s (%s)\n", dir, sizeText(sizes[dir]))
			}
			if errors.Is(err, fs.ErrNotExist) && len(removed) == 0 {
				var names []string
				for _, dir := range a.env.Installed() {
					names = append(names, filepath.Base(filepath.Dir(dir))+"@"+filepath.Base(dir))
				}
				return fmt.Errorf("plugin %q is not installed%s", args[0], command.Suggest(args[0], names))
			}
			return err
		}),
	}
}

func (a *app) pluginCleanCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "clean",
		Short: "Remove leftovers from the cache",
		Long: `Remove from the user's cache what no command needs: the rest of interrupted installations, and the libraries that other builds of hlocb made for 'hlocb exec'.

Installed plugins stay; 'hlocb plugin remove' removes them.`,
		Example: "  hlocb plugin clean",
		Args:    command.Args(),
		RunE: command.Body(func(cmd *cobra.Command, _ []string) error {
			stale, err := launch.Stale()
			if err != nil {
				return err
			}
			freed, count := int64(0), 0
			for _, dir := range stale {
				freed += sizeOf(dir)
				if err := os.RemoveAll(dir); err != nil {
					return err
				}
				count++
			}
			removed, err := plugins.Clean(cmd.Context(), a.env.CacheDir)
			fmt.Fprintf(a.Out, "removed %s, %s of libraries\n", plural(count+len(removed), "folder"), sizeText(freed))
			return err
		}),
	}
}

// sizeOf returns the bytes of the files below a directory.
func sizeOf(dir string) int64 {
	n := int64(0)
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}

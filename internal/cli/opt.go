package cli

import (
	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/opt"
)

func (a *app) optCommand() *cobra.Command {
	return opt.Command(a.Console, opt.Config{Dialects: all.Dialects(), Example: `  hlocb opt in.mlir --passes 'rewrite-hooks{order=source}'
  hlocb opt in.mlir --passes 'builtin.module(raise-hooks)' --print-ir-after all
  hlocb opt tests.mlir --split-input-file --verify-diagnostics`})
}

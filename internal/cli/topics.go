package cli

import (
	"fmt"
	"strings"

	"github.com/hlocb/hlocb/runtime/handlers"
)

// topics returns the pages of 'hlocb help TOPIC'.
func topics() []topic {
	return []topic{
		{"handlers", "What --on NAME=HANDLER can bind", handlersTopic()},
		{"faults", "What --inject NAME=FAULT can do", faultsTopic},
		{"order", "How hooks are ordered", orderTopic},
		{"environment", "Variables that hlocb reads", environmentTopic},
	}
}

func handlersTopic() string {
	var b strings.Builder
	b.WriteString(`Handlers: --on NAME=HANDLER

NAME is a hook's name, a glob such as 'layer*', or a hexadecimal id; 'hlocb hooks IN' lists them. An exact name beats a
glob, a later --on beats an earlier --on. Any number of handlers can observe a hook. One handler responds: it supplies the
results. A hook of kind call or feed needs a responder.

Handlers:
`)
	for _, info := range handlers.Table() {
		name := info.Name
		if info.Args != "" {
			name += ":" + info.Args
		}
		if len(name) > 25 {
			fmt.Fprintf(&b, "  %s\n  %-25s  %s\n", name, "", info.Doc)
			continue
		}
		fmt.Fprintf(&b, "  %-25s  %s\n", name, info.Doc)
	}
	b.WriteString(`
Examples:
  hlocb run f.mlir --on 'loss=print' --on '*=finite'
  hlocb run f.mlir --on 'ask=exec:python3 answer.py'

See docs/handlers.md for the protocol of exec and for handlers in shared libraries.`)
	return b.String()
}

// handlerNames lists the built-in observers, or the responders.
func handlerNames(observers bool) string {
	var names []string
	for _, info := range handlers.Table() {
		if info.Observer == observers {
			names = append(names, info.Name)
		}
	}
	return strings.Join(names, ", ")
}

const faultsTopic = `Faults: --inject NAME=FAULT[@N]

A fault makes a hook fail, to test what a program and its handlers do then. NAME is a name, a glob or an id. @N limits
the fault to event N of the hook, counted from 0.

  error        the handler returns an error
  panic        the handler panics
  delay=D      the handler waits for D, such as 2s, before it runs
  nan          floats of the results are NaN
  zero         results are zero
  wrong-shape  the handler returns a result of another shape
  unwritten    the handler writes no result

Example:
  hlocb run f.mlir --fill iota --on '*=echo' --inject 'loss=error@2'`

const orderTopic = `Order: --order, --chain, --alias, --per-device

XLA runs independent calls in any order. hlocb connects hooks by data dependencies that XLA keeps, and checks the result
before it runs or writes a module.

--order:
  program  all hooks in program order (default)
  source   the order that the module's tokens and data impose, and no more
  none     no order

--chain, the value that hooks forward to keep their order:
  state    a scalar operand and result of each hook (default)
  token    an XLA token

--alias, which results share their operand's memory:
  all      every result with an operand of its type (default)
  free     results that need no copy
  none     no result

--per-device, how often a hook of a partitioned program fires:
  source   as the module says (default)
  once     once, with the whole value
  each     on each device, with its shard

'hlocb hooks IN --show order' prints the order, 'hlocb explain IN HOOK' the reason for each edge.`

const environmentTopic = `Environment

  HLOCB_CPU_PLUGIN   path of the PJRT plugin that --backend cpu uses
  HLOCB_CUDA_PLUGIN  path of the PJRT plugin that --backend cuda uses
  HLOCB_CUDA_DRIVER  path of the CUDA driver (default libcuda.so.1)
  PJRT_NAMES_AND_LIBRARY_PATHS
                     plugins by name: name:path,name:path
  PJRT_PLUGIN_LIBRARY_PATH
                     directories with plugins
  VIRTUAL_ENV, CONDA_PREFIX, PYTHONPATH, PATH
                     where plugins in Python packages are searched
  XDG_CACHE_HOME     'hlocb plugin install' puts plugins below it, or below ~/.cache
  XLA_FLAGS          XLA's own options; hlocb adds a longer wait for slow handlers
  TF_CPP_MIN_LOG_LEVEL
                     which lines XLA logs; hlocb sets 2 unless you set it, and 'hlocb exec' leaves it as it is
  HLOCB_TRACEBACK    all stacks when a plugin crashes, instead of one line
  NO_COLOR           no colours, if it is not empty
  GOGC               Go's garbage collector; hlocb tunes it unless you set it

'hlocb exec' passes its flags to the program as variables. Set them yourself if the program starts without it, with
HLOCB_PLUGIN and the library libhlocb_pjrt.so; docs/interposer.md shows how:

  HLOCB_PLUGIN       path of the plugin that the library wraps
  HLOCB_LIBRARY      path of the library that the preloaded library loads
  HLOCB_TAP, HLOCB_ON
                     --tap and --on, one per line
  HLOCB_EVERY, HLOCB_FIRST, HLOCB_BISECT_NAN, HLOCB_INF, HLOCB_PASSES, HLOCB_EVENTS, HLOCB_DUMP, HLOCB_DUMP_ARGS,
  HLOCB_LIST, HLOCB_STRICT
                     the flags of these names
  HLOCB_DIRECTORY    where relative names of files start (default: the working directory)
  HLOCB_OPENED, HLOCB_QUIET
                     set by 'hlocb exec' for itself

'hlocb plugin list --places' shows where plugins were searched.`

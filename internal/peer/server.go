package peer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// server is a Python that has imported what scripts need, and forks for each of them: JAX takes more than a second to
// import, longer than most scripts run, and a test may run a hundred of them. A script sees a process of its own, with
// its arguments, standard input and output. Unless JAX_PLATFORMS says otherwise, JAX runs on the CPU.
type server struct {
	in  io.Writer
	out *bufio.Reader
	env []string
}

// serverScript reads requests as lines of JSON, and answers each with the exit code of its script. It imports what the
// script imports first, but does nothing else of it, so that no client of JAX starts before the fork.
const serverScript = `
import ast, ctypes, gc, importlib, json, os, sys, traceback
libc = ctypes.CDLL(None)

def run(r):
    if sys.platform == "linux":
        libc.prctl(1, 9)  # PR_SET_PDEATHSIG: the script ends with this process
    for fd, name in enumerate(("in", "out", "err")):
        os.dup2(os.open(os.path.join(r["Dir"], name), os.O_RDONLY if fd == 0 else os.O_WRONLY), fd)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")
    sys.argv = ["-c"] + r["Args"]
    try:
        exec(compile(r["Script"], "<string>", "exec"), {"__name__": "__main__"})
        return 0
    except SystemExit as e:
        if isinstance(e.code, str):
            print(e.code, file=sys.stderr)
        return e.code if isinstance(e.code, int) else int(e.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1

for line in sys.stdin:
    r = json.loads(line)
    try:
        for s in ast.parse(r["Script"]).body:
            names = [a.name for a in s.names] if isinstance(s, ast.Import) else [s.module] if isinstance(s, ast.ImportFrom) else []
            for name in names:
                if name.split(".")[0] in ("jax", "jaxlib", "ml_dtypes", "numpy"):
                    importlib.import_module(name)
    except (ImportError, SyntaxError):
        pass  # the script says it
    gc.freeze()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = run(r)
            sys.stdout.flush(), sys.stderr.flush()
        finally:
            os._exit(code & 255)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
`

// serve runs a script with a server, and returns its standard output. It reports false if the script needs a Python of
// its own: one that reads or sets variables before it imports, or imports more than JAX.
func (p *Interpreter) serve(script string, stdin []byte, args []string) (out []byte, ok bool, err error) {
	if p.version == "" || strings.Contains(script, "environ") {
		return nil, false, nil
	}
	dir, err := os.MkdirTemp("", "hlocb-peer-")
	if err != nil {
		return nil, true, err
	}
	defer os.RemoveAll(dir)
	for name, content := range map[string][]byte{"in": stdin, "out": nil, "err": nil} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return nil, true, err
		}
	}
	s, err := p.server()
	if err != nil {
		return nil, true, err
	}
	request, err := json.Marshal(struct {
		Script, Dir string
		Args        []string
	}{script, dir, append([]string{}, args...)})
	if err != nil {
		return nil, true, err
	}
	if _, err := s.in.Write(append(request, '\n')); err != nil {
		return nil, true, err
	}
	code, err := s.out.ReadString('\n')
	if err != nil {
		return nil, true, fmt.Errorf("the process that starts scripts ended: %w", err)
	}
	p.mu.Lock()
	p.free = append(p.free, s)
	p.mu.Unlock()
	if code = strings.TrimSpace(code); code != "0" {
		stderr, _ := os.ReadFile(filepath.Join(dir, "err"))
		return nil, true, fmt.Errorf("exit code %s\n%s", code, bytes.TrimSpace(stderr))
	}
	out, err = os.ReadFile(filepath.Join(dir, "out"))
	return out, true, err
}

// server returns a server that runs no script and has the variables of this process, or starts one.
func (p *Interpreter) server() (*server, error) {
	env := os.Environ()
	p.mu.Lock()
	var s *server
	if i := slices.IndexFunc(p.free, func(s *server) bool { return slices.Equal(s.env, env) }); i >= 0 {
		s = p.free[i]
		p.free = slices.Delete(p.free, i, i+1)
	}
	p.mu.Unlock()
	if s != nil {
		return s, nil
	}
	cmd := Command(p.path, "-c", serverScript)
	cmd.Env, cmd.Stderr = append([]string{"JAX_PLATFORMS=cpu"}, env...), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &server{in, bufio.NewReader(out), env}, cmd.Start()
}

//go:build linux

package peer

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestCommandEndsWithItsParent kills a process, whose command then ends, too.
func TestCommandEndsWithItsParent(t *testing.T) {
	const child = "HLOCB_TEST_CHILD"
	args := []string{os.Args[0], "-test.run", "^TestCommandEndsWithItsParent$"}
	switch os.Getenv(child) {
	case "grandchild":
		time.Sleep(10 * time.Minute)
		return
	case "child":
		c := Command(args[0], args[1:]...)
		c.Env = append(os.Environ(), child+"=grandchild")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString("pid " + strconv.Itoa(c.Process.Pid) + "\n")
		_ = c.Wait()
		return
	}
	c := exec.Command(args[0], args[1:]...)
	c.Env = append(os.Environ(), child+"=child")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	pid, err2 := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(line, "pid ")))
	if err != nil || err2 != nil {
		t.Fatalf("%q: %v, %v", line, err, err2)
	}
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	for end := time.Now().Add(time.Minute); running(pid); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Fatal("the command runs on after its parent was killed")
		}
	}
}

// running reports whether a process runs. Zombies do not.
func running(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	_, rest, _ := strings.Cut(string(text), ") ")
	return err == nil && !strings.HasPrefix(rest, "Z")
}

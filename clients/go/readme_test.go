package condense

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The quickstart of the README runs as it stands there, against a real server.
func TestTheQuickstartRuns(t *testing.T) {
	target := os.Getenv("CONDENSE_TARGET")
	if target == "" {
		t.Skip("CONDENSE_TARGET names no server")
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(readme), "\n"); lines > 60 {
		t.Errorf("the README has %d lines", lines)
	}
	_, code, _ := strings.Cut(string(readme), "```go\n")
	code, _, _ = strings.Cut(code, "```")
	if !strings.Contains(code, "localhost:50051") {
		t.Fatal("the quickstart names no server")
	}
	folder, err := os.MkdirTemp("build", "quickstart")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	if err := os.WriteFile(filepath.Join(folder, "main.go"), []byte(strings.ReplaceAll(code, "localhost:50051", target)), 0o600); err != nil {
		t.Fatal(err)
	}
	output, err := exec.Command("go", "run", "./"+folder).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	for _, want := range []string{"1 1 ", "completed:{", "not found"} {
		if !strings.Contains(string(output), want) {
			t.Errorf("%q is missing in:\n%s", want, output)
		}
	}
}

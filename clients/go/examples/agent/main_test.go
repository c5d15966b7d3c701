package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	condense "github.com/condense-grpc/condense-grpc/clients/go"
)

// A model that refuses histories as the provider does, and plays a script: the next message for every request.
type scriptedModel struct {
	t        *testing.T
	script   []string
	requests [][]map[string]any
}

func (m *scriptedModel) ServeHTTP(writer http.ResponseWriter, request *http.Request) {
	var body struct {
		Messages []map[string]any
		Tools    []map[string]any
	}
	if err := json.NewDecoder(request.Body).Decode(&body); err != nil {
		http.Error(writer, err.Error(), http.StatusBadRequest)
		return
	}
	if defect := findDefect(body.Messages); defect != "" || len(body.Tools) != 2 {
		m.t.Errorf("the model refuses the request: %s, %d tools", defect, len(body.Tools))
		http.Error(writer, defect, http.StatusBadRequest)
		return
	}
	next := m.script[len(m.requests)]
	m.requests = append(m.requests, body.Messages)
	fmt.Fprintf(writer, `{"choices": [{"message": %s}]}`, next)
}

// findDefect is what a strict provider would say: every call has exactly one result right behind it, no other has.
func findDefect(messages []map[string]any) string {
	open := map[string]bool{}
	for index, message := range messages {
		if message["role"] == "tool" {
			id := message["tool_call_id"].(string)
			if !open[id] {
				return fmt.Sprintf("message %d answers no open call", index)
			}
			delete(open, id)
			continue
		}
		if len(open) > 0 {
			return fmt.Sprintf("calls are open before message %d", index)
		}
		if calls, hasCalls := message["tool_calls"].([]any); hasCalls {
			for _, call := range calls {
				open[call.(map[string]any)["id"].(string)] = true
			}
		} else if message["content"] == nil || message["content"] == "" {
			return fmt.Sprintf("message %d has no content", index)
		}
	}
	return ""
}

func call(id, name, arguments string) string {
	text, _ := json.Marshal(arguments)
	return fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":%q,"type":"function","function":{"name":%q,"arguments":%s}}]}`, id, name, text)
}

func TestTheAgentWorksIsCondensedAndLooksThingsUp(t *testing.T) {
	target := os.Getenv("CONDENSE_TARGET")
	if target == "" {
		t.Skip("CONDENSE_TARGET names no server")
	}
	model := &scriptedModel{t: t, script: []string{
		call("c1", "shell", `{"command": "seq -f 'line %g of the log' 1 400"}`),
		call("c2", "shell", `{"command": "exit 3"}`),
		`{"role":"assistant","content":"The log has 400 lines."}`,
		call("c3", "context_tree_query", `{"toolCallIds": ["t1"], "slices": [{"ref": "t1", "lines": [7, 7]}]}`),
		`{"role":"assistant","content":"It says: line 7 of the log."}`,
	}}
	server := httptest.NewServer(model)
	defer server.Close()
	client, err := condense.NewClient(target)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	one := &agent{session: condense.NewSession[json.RawMessage](client, "go-example", condense.OpenAIChat), baseURL: server.URL, model: "scripted"}

	if _, err := one.session.Delete(context.Background()); err != nil {
		t.Fatal(err)
	}
	answer, err := one.run(context.Background(), "How long is the log?")
	if err != nil || answer != "The log has 400 lines." {
		t.Fatal(answer, err)
	}
	answer, err = one.run(context.Background(), "And what does line 7 say?")
	if err != nil || answer != "It says: line 7 of the log." {
		t.Fatal(answer, err)
	}

	shown, _ := json.Marshal(model.requests[3])
	if !strings.Contains(string(shown), "ref `t1`") || strings.Contains(string(shown), "line 200 of the log\\nline 201") {
		t.Errorf("the request after the flush is not condensed: %s", shown)
	}
	last := model.requests[4]
	if result := last[len(last)-1]["content"].(string); !strings.Contains(result, "line 7 of the log") {
		t.Errorf("the original was not given back: %s", result)
	}
}

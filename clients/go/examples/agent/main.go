// An agent over the Chat Completions API whose context is kept small by the service.
//
//	OPENAI_API_KEY=… go run ./examples/agent "Which file of this folder is the largest?"
//
// It has one tool of its own, a shell, and the recovery tool by which the model gets originals back. The service is at
// CONDENSE_TARGET (default localhost:50051), the model at OPENAI_BASE_URL. If the service does not answer, the agent
// goes on with its raw history.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"strings"

	condense "github.com/condense-grpc/condense-grpc/clients/go"
)

const shellTool = `{"type": "function", "function": {"name": "shell", "description": "Runs a command.", "parameters":
	{"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}}}`

type agent struct {
	session  *condense.Session[json.RawMessage]
	messages []json.RawMessage // the raw history; it only grows
	baseURL  string
	key      string
	model    string
}

// The part of an assistant message that an agent has to look at. The message itself is kept as it came.
type assistant struct {
	Content   string `json:"content"`
	ToolCalls []struct {
		ID       string                           `json:"id"`
		Function struct{ Name, Arguments string } `json:"function"`
	} `json:"tool_calls"`
}

func main() {
	client, err := condense.NewClient(setting("CONDENSE_TARGET", "localhost:50051"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	one := &agent{
		session: condense.NewSession[json.RawMessage](client, fmt.Sprintf("go-agent-%d", os.Getpid()), condense.OpenAIChat),
		baseURL: setting("OPENAI_BASE_URL", "https://api.openai.com/v1"),
		key:     os.Getenv("OPENAI_API_KEY"),
		model:   setting("OPENAI_MODEL", "gpt-5-mini"),
	}
	answer, err := one.run(context.Background(), strings.Join(os.Args[1:], " "))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer)
}

// run works until the model answers with text, and has the service condense what was done.
func (a *agent) run(ctx context.Context, task string) (string, error) {
	a.messages = append(a.messages, message(map[string]any{"role": "user", "content": task}))
	for {
		raw, err := a.ask(ctx, a.condensed(ctx))
		if err != nil {
			return "", err
		}
		a.messages = append(a.messages, raw)
		var said assistant
		if err := json.Unmarshal(raw, &said); err != nil {
			return "", err
		}
		if len(said.ToolCalls) == 0 {
			a.flush(ctx)
			return said.Content, nil
		}
		for _, call := range said.ToolCalls {
			result := a.result(ctx, call.Function.Name, call.Function.Arguments)
			a.messages = append(a.messages, message(map[string]any{"role": "tool", "tool_call_id": call.ID, "content": result}))
		}
	}
}

// condensed is the view of the history, or the history itself while the service does not answer.
func (a *agent) condensed(ctx context.Context) []json.RawMessage {
	view, err := a.session.Prune(ctx, a.messages)
	if errors.Is(err, condense.ErrUnavailable) || errors.Is(err, condense.ErrDeadlineExceeded) {
		log.Printf("the history is sent as it is: %v", err)
		return a.messages
	}
	if err != nil {
		log.Fatal(err)
	}
	return view.Messages
}

func (a *agent) flush(ctx context.Context) {
	flush, err := a.session.Flush(ctx, a.messages)
	if err != nil {
		log.Printf("nothing was condensed: %v", err)
		return
	}
	for event, err := range flush.All() {
		if done := event.GetBatchFinished(); err == nil && done != nil {
			log.Printf("condensed %s", strings.Join(done.GetRefs(), ", "))
		}
	}
}

func (a *agent) result(ctx context.Context, name, arguments string) string {
	if name == condense.RecoveryToolName {
		answer, err := a.session.AnswerToolCall(ctx, arguments)
		if err != nil {
			return "The archive cannot be read now."
		}
		return answer
	}
	var wanted struct{ Command string }
	if err := json.Unmarshal([]byte(arguments), &wanted); name != "shell" || err != nil {
		return "There is no such tool, or its arguments are not valid JSON."
	}
	output, err := exec.CommandContext(ctx, "sh", "-c", wanted.Command).CombinedOutput()
	if err != nil {
		return fmt.Sprintf("%s\n%v", output, err)
	}
	return string(output)
}

// ask gives the model's next message, byte for byte.
func (a *agent) ask(ctx context.Context, messages []json.RawMessage) (json.RawMessage, error) {
	tools := []json.RawMessage{json.RawMessage(shellTool), condense.RecoveryTool(condense.ProviderOpenAI)}
	body := message(map[string]any{"model": a.model, "messages": messages, "tools": tools})
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.baseURL+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("content-type", "application/json")
	request.Header.Set("authorization", "Bearer "+a.key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the model answers %s: %s (%w)", response.Status, text, err)
	}
	var answer struct {
		Choices []struct{ Message json.RawMessage }
	}
	if err := json.Unmarshal(text, &answer); err != nil || len(answer.Choices) == 0 {
		return nil, fmt.Errorf("the model's answer cannot be read: %s", text)
	}
	return answer.Choices[0].Message, nil
}

// message writes JSON without touching <, > and &, which views have to keep.
func message(value any) json.RawMessage {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		log.Fatal(err)
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}

func setting(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

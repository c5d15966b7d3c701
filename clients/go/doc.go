// Package condense is the Go client of condense_grpc, the service that keeps the context of LLM agents small and
// loses nothing.
//
// The caller keeps its raw history, a slice of messages in the shape of its provider, and asks before each request to
// the model what to send instead:
//
//	client, err := condense.NewClient("localhost:50051")
//	session := condense.NewSession[json.RawMessage](client, "my-agent-1", condense.OpenAIChat)
//	view, err := session.Prune(ctx, messages) // send view.Messages to the model
//
// A session sends only what is new in the slice, recovers by itself from lost answers and from a server that knows
// less, and gives elements without an edit back as the caller's own values. Clients and sessions may be shared by
// goroutines. Every call is safe to repeat.
package condense

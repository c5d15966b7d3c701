package condense

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"unicode/utf8"

	condensev1 "github.com/condense-grpc/condense-grpc/clients/go/gen/condense/v1"
)

// A Format is the shape of the messages of a session.
type Format = condensev1.MessageFormat

// The shapes: one element of the slice is one element of the array that the provider takes.
const (
	OpenAIChat      = condensev1.MessageFormat_MESSAGE_FORMAT_OPENAI_CHAT
	OpenAIResponses = condensev1.MessageFormat_MESSAGE_FORMAT_OPENAI_RESPONSES
	Anthropic       = condensev1.MessageFormat_MESSAGE_FORMAT_ANTHROPIC
	Gemini          = condensev1.MessageFormat_MESSAGE_FORMAT_GEMINI
	Pi              = condensev1.MessageFormat_MESSAGE_FORMAT_PI
)

// A Session is one history of the caller, mirrored by the server. It may be shared by goroutines; calls may overlap.
//
// T is the type of the caller's messages: anything that encoding/json writes as the provider's JSON and reads back,
// such as the types of an SDK. json.RawMessage keeps every byte of what came from the model.
type Session[T any] struct {
	delivery *delivery
	format   Format

	lock sync.Mutex
	held heldEdits
}

// The edits of the last view and their revision.
type heldEdits struct {
	revision string
	edits    []*condensev1.Edit
}

// NewSession makes a handle on a session of the server. Its first call creates the session, with these settings, if it
// does not exist.
func NewSession[T any](client *Client, id string, format Format, config ...*condensev1.SessionConfig) *Session[T] {
	made := &Session[T]{delivery: &delivery{client: client, sessionID: id, sent: &sentHistory{}}, format: format}
	for _, settings := range config {
		made.delivery.config = settings
	}
	return made
}

// ID is the id of the session.
func (s *Session[T]) ID() string { return s.delivery.sessionID }

// PruneOptions are what a prune can be told, as PruneMessagesRequest names it.
type PruneOptions struct {
	// Usage of the last request to the model.
	Usage *condensev1.ContextUsage
	// MinSavingsChars: below it the view is the raw history.
	MinSavingsChars int64
	// DryRun only reports: nothing is stored, and the view is the raw history.
	DryRun bool
}

// Prune is what to send to the model instead of messages, the whole raw history. Only what is new in it is sent, and
// neither the slice nor its elements are changed. A message that cannot be stored is ErrMessageInvalid or
// ErrMessageTooLarge before anything is sent.
func (s *Session[T]) Prune(ctx context.Context, messages []T, options ...PruneOptions) (*View[T], error) {
	var chosen PruneOptions
	if len(options) > 0 {
		chosen = options[0]
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	list, err := s.draft(messages)
	if err != nil {
		return nil, err
	}
	ctx, held := s.outgoing(ctx), s.heldEdits()
	request := &condensev1.PruneMessagesRequest{
		SessionId:     s.ID(),
		View:          condensev1.View_VIEW_EDITS,
		KnownRevision: held.revision,
		DryRun:        chosen.DryRun,
		Usage:         chosen.Usage,
		Config:        s.delivery.config,
	}
	if chosen.MinSavingsChars > 0 {
		request.MinSavingsChars = &chosen.MinSavingsChars
	}
	response, err := s.delivery.prune(ctx, list, request, !chosen.DryRun)
	if err != nil {
		return nil, err
	}
	if chosen.DryRun {
		return viewOf(append([]T(nil), messages...), nil, response), nil
	}
	edits := response.GetEdits()
	if response.GetUnchanged() {
		edits = held.edits
	}
	view, err := applyEdits(messages, edits)
	if errors.Is(err, errNotUnderstood) {
		view, err = s.fullView(ctx, messages, list)
	} else if err == nil {
		s.hold(heldEdits{response.GetRevision(), edits})
	}
	if err != nil {
		return nil, err
	}
	return viewOf(view, edits, response), nil
}

// fullView is the same view as the server writes it out: for edits of a kind that this client does not know.
func (s *Session[T]) fullView(ctx context.Context, messages []T, list *draft) ([]T, error) {
	request := &condensev1.PruneMessagesRequest{SessionId: s.ID(), View: condensev1.View_VIEW_FULL}
	response, err := s.delivery.prune(ctx, list, request, true)
	if err != nil {
		return nil, err
	}
	return readFullView(messages, list.texts, response.GetNativeJson())
}

// Query reads originals by short ref, tool call id or occurrence key, whole or in slices. Unknown refs are answered,
// and are no error.
func (s *Session[T]) Query(ctx context.Context, refs []string, slices ...*condensev1.Slice) (*Answer, error) {
	request := &condensev1.QueryToolCallRequest{SessionId: s.ID(), Refs: refs, Slices: slices}
	asked := append([]string(nil), refs...)
	for _, slice := range slices {
		asked = append(asked, slice.GetRef(), slice.GetPattern().GetPattern())
	}
	if err := s.check(asked...); err != nil {
		return nil, err
	}
	response, err := call(s.outgoing(ctx), s.client(), s.client().options.CallTimeout, request, s.client().condense.QueryToolCall)
	if err != nil {
		return nil, err
	}
	return &Answer{response.GetText(), response.GetResults()}, nil
}

// AnswerToolCall is the result for a model that has called the recovery tool with these arguments, as the model wrote
// them. Arguments that make no sense get an answer that says so. An error means that the server cannot be asked.
func (s *Session[T]) AnswerToolCall(ctx context.Context, arguments string) (string, error) {
	wanted, err := readArguments(arguments)
	if err != nil {
		return err.Error(), nil
	}
	answer, err := s.Query(ctx, wanted.refs, wanted.slices...)
	switch {
	case err == nil:
		return answer.Text, nil
	case errors.Is(err, ErrRequestInvalid), errors.Is(err, ErrSessionNotFound), errors.Is(err, ErrNotImplemented):
		return "Nothing could be read: " + errorOf(err).Message, nil
	}
	return "", err
}

// Diagnostics tell how the session is doing. Only the entries are paged.
func (s *Session[T]) Diagnostics(ctx context.Context, page ...*condensev1.GetDiagnosticsRequest) (*condensev1.GetDiagnosticsResponse, error) {
	request := &condensev1.GetDiagnosticsRequest{}
	for _, wanted := range page {
		request.PageSize, request.PageToken, request.Kinds = wanted.GetPageSize(), wanted.GetPageToken(), wanted.GetKinds()
	}
	request.SessionId = s.ID()
	if err := s.check(request.PageToken); err != nil {
		return nil, err
	}
	return call(s.outgoing(ctx), s.client(), s.client().options.CallTimeout, request, s.client().condense.GetDiagnostics)
}

// Delete removes everything of the session from the server, and tells whether there was one.
func (s *Session[T]) Delete(ctx context.Context) (bool, error) {
	if err := s.check(); err != nil {
		return false, err
	}
	request := &condensev1.DeleteSessionRequest{SessionId: s.ID(), AllowMissing: true}
	response, err := call(s.outgoing(ctx), s.client(), s.client().options.CallTimeout, request, s.client().sessions.DeleteSession)
	if err != nil {
		return false, err
	}
	s.delivery.remember(&sentHistory{})
	s.hold(heldEdits{})
	return response.GetDeleted(), nil
}

func (s *Session[T]) client() *Client { return s.delivery.client }

func (s *Session[T]) outgoing(ctx context.Context) context.Context {
	return s.client().outgoing(ctx, s.ID())
}

func (s *Session[T]) draft(messages []T) (*draft, error) {
	return newDraft(s.format, messages, s.delivery.history(), s.client().options.MaxMessageBytes)
}

// check refuses texts that cannot be sent: those of a request, and the id.
func (s *Session[T]) check(texts ...string) error {
	if !utf8.ValidString(s.ID()) {
		return refused(ErrSessionIDInvalid, "the session id is no UTF-8: choose another one", nil)
	}
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return refused(ErrRequestInvalid, fmt.Sprintf("%q is no UTF-8, which nothing that is asked for can be", text), nil)
		}
	}
	return nil
}

func (s *Session[T]) heldEdits() heldEdits {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.held
}

func (s *Session[T]) hold(held heldEdits) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.held = held
}

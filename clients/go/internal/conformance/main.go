// The runner of Go for clients/conformance: it carries out one order per line, and answers each by one line.
package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	condense "github.com/condense-grpc/condense-grpc/clients/go"
	condensev1 "github.com/condense-grpc/condense-grpc/clients/go/gen/condense/v1"
)

type object = map[string]any

type order struct {
	Op, Target, Client, Session, ID, Format, Until, Flush, Ref, Provider string
	Options                                                              struct {
		MaxAttempts        int
		CallTimeoutSeconds float64
		Token, Target      string
	}
	Config          json.RawMessage
	Elements        []string
	Length          int
	MinSavingsChars int64
	DryRun          bool
	Usage           *struct{ Tokens, ContextWindow int64 }
	List, Attach    *bool
	Refs            []string
	Slices          []slice
	Arguments       *string
}

type slice struct {
	Ref          string
	Lines, Chars []*int64
	Pattern      string
	Regex        bool
	ContextLines int32
	MaxChars     *int64
}

type session = condense.Session[json.RawMessage]

type runner struct {
	target   string
	clients  map[string]*condense.Client
	sessions map[string]*session
	lists    map[string][]json.RawMessage
	flushes  map[string]*condense.FlushStream
}

func newRunner(target string) *runner {
	return &runner{target, map[string]*condense.Client{}, map[string]*session{}, map[string][]json.RawMessage{}, map[string]*condense.FlushStream{}}
}

func (r *runner) reset(target string) {
	for _, stream := range r.flushes {
		stream.Close()
	}
	for _, client := range r.clients {
		_ = client.Close()
	}
	*r = *newRunner(target)
}

func main() {
	r := newRunner(os.Args[1])
	input := bufio.NewReader(os.Stdin)
	for {
		line, err := input.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		var next order
		must(json.Unmarshal(line, &next))
		report := object{}
		if result, err := r.carryOut(context.Background(), &next); err != nil {
			report["error"] = errorReport(err)
		} else {
			report["result"] = result
		}
		text, err := json.Marshal(report)
		must(err)
		fmt.Println(string(text))
	}
	r.reset("")
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (r *runner) client(name string) *condense.Client {
	if r.clients[name] == nil {
		must(r.makeClient(&order{Client: name}))
	}
	return r.clients[name]
}

func (r *runner) makeClient(o *order) error {
	target := r.target
	if o.Options.Target != "" {
		target = o.Options.Target
	}
	client, err := condense.NewClient(target, condense.With(func(options *condense.Options) {
		options.Token = o.Options.Token
		if o.Options.MaxAttempts > 0 {
			options.Retry.MaxAttempts = o.Options.MaxAttempts
		}
		if o.Options.CallTimeoutSeconds > 0 {
			options.CallTimeout = time.Duration(o.Options.CallTimeoutSeconds * float64(time.Second))
		}
	}))
	if err != nil {
		return err
	}
	r.clients[o.Client] = client
	return nil
}

var formats = map[string]condense.Format{
	"openai-chat": condense.OpenAIChat, "openai-responses": condense.OpenAIResponses,
	"anthropic": condense.Anthropic, "gemini": condense.Gemini, "pi": condense.Pi,
}

func (r *runner) carryOut(ctx context.Context, o *order) (any, error) {
	s := r.sessions[o.Session]
	switch o.Op {
	case "hello":
		return object{"language": "go", "numbers": "text", "loneSurrogates": "kept", "stringsHoldSurrogates": false}, nil
	case "reset":
		r.reset(o.Target)
	case "client":
		return object{}, r.makeClient(o)
	case "options":
		options := r.client(o.Client).Options()
		return object{
			"maxMessageBytes": options.MaxMessageBytes, "unaryDeltaBytes": options.UnaryDeltaBytes, "chunkBytes": options.ChunkBytes,
			"keepaliveSeconds": options.Keepalive.Seconds(), "callTimeoutSeconds": options.CallTimeout.Seconds(), "maxAttempts": options.Retry.MaxAttempts,
		}, nil
	case "capabilities":
		return r.capabilities(ctx, o)
	case "session":
		var config []*condensev1.SessionConfig
		if o.Config != nil {
			config = append(config, &condensev1.SessionConfig{})
			must(protojson.Unmarshal(o.Config, config[0]))
		}
		r.sessions[o.Session] = condense.NewSession[json.RawMessage](r.client(o.Client), o.ID, formats[o.Format], config...)
		r.lists[o.Session] = []json.RawMessage{}
	case "append":
		for _, text := range o.Elements {
			r.lists[o.Session] = append(r.lists[o.Session], json.RawMessage(text))
		}
	case "cut":
		r.lists[o.Session] = r.lists[o.Session][:o.Length:o.Length]
	case "prune":
		options := condense.PruneOptions{MinSavingsChars: o.MinSavingsChars, DryRun: o.DryRun}
		if o.Usage != nil {
			options.Usage = &condensev1.ContextUsage{Tokens: &o.Usage.Tokens, ContextWindow: o.Usage.ContextWindow}
		}
		view, err := s.Prune(ctx, r.lists[o.Session], options)
		if err != nil {
			return nil, err
		}
		return viewReport(r.lists[o.Session], view), nil
	case "flush", "compact":
		return r.open(ctx, o)
	case "next":
		return readEvents(r.flushes[o.Flush], o.Until)
	case "cancel":
		r.flushes[o.Flush].Close()
	case "query":
		return query(ctx, s, o)
	case "read":
		return read(ctx, s, o.Ref)
	case "recoveryTool":
		return object{"json": string(condense.RecoveryTool(condense.Provider(o.Provider)))}, nil
	case "answer":
		arguments := "null"
		if o.Arguments != nil {
			arguments = *o.Arguments
		}
		text, err := s.AnswerToolCall(ctx, arguments)
		return object{"text": text}, err
	case "diagnostics":
		told, err := s.Diagnostics(ctx)
		if err != nil {
			return nil, err
		}
		outcomes := []string{}
		for _, flush := range told.GetLastFlushes() {
			outcomes = append(outcomes, flush.GetOutcome().String())
		}
		advice := told.GetAdvice()
		return object{"statusLine": told.GetStatusLine(), "pendingBatches": advice.GetPendingBatches(), "running": advice.GetRunning(), "lastOutcomes": outcomes}, nil
	case "delete":
		deleted, err := s.Delete(ctx)
		return object{"deleted": deleted}, err
	case "close":
		return object{}, r.client(o.Client).Close()
	default:
		must(fmt.Errorf("no order %q", o.Op))
	}
	return object{}, nil
}

func (r *runner) capabilities(ctx context.Context, o *order) (any, error) {
	told, err := r.client(o.Client).Capabilities(ctx)
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, format := range told.GetFormats() {
		names = append(names, format.String())
	}
	tool := told.GetRecoveryTool()
	return object{
		"version": told.GetVersion(), "formats": names, "maxMessageBytes": told.GetLimits().GetMaxMessageBytes(),
		"recoveryTool": object{"name": tool.GetName(), "description": tool.GetDescription(), "parametersJson": tool.GetParametersJson()},
	}, nil
}

func viewReport(list []json.RawMessage, view *condense.View[json.RawMessage]) object {
	own := make(map[*byte]int)
	for index, element := range list {
		own[&element[0]] = index
	}
	elements := []string{}
	for _, element := range view.Messages {
		if index, isOwn := own[&element[0]]; isOwn && bytes.Equal(element, list[index]) {
			elements = append(elements, fmt.Sprintf("=%d", index))
		} else {
			elements = append(elements, string(element))
		}
	}
	violations := []object{}
	for _, violation := range view.Violations {
		violations = append(violations, object{"kind": violation.GetKind().String(), "messageIndex": violation.GetMessageIndex()})
	}
	return object{
		"view": elements, "edits": len(view.Edits), "pruned": view.Pruned, "unchanged": view.Unchanged, "revision": view.Revision,
		"statusLine": view.StatusLine,
		"reclaim":    object{"beforeChars": view.Reclaim.GetBeforeChars(), "afterChars": view.Reclaim.GetAfterChars()},
		"cache":      object{"firstChangedIndex": view.Cache.FirstChangedIndex, "breaksCache": view.Cache.GetBreaksCache()},
		"advice":     object{"pendingBatches": view.Advice.GetPendingBatches()}, "violations": violations,
	}
}

func (r *runner) open(ctx context.Context, o *order) (any, error) {
	options := condense.FlushOptions{Alone: o.Attach != nil && !*o.Attach}
	var stream *condense.FlushStream
	var err error
	if o.Op == "compact" {
		stream, err = r.sessions[o.Session].Compact(ctx, options)
	} else {
		list := r.lists[o.Session]
		if o.List != nil && !*o.List {
			list = nil
		}
		stream, err = r.sessions[o.Session].Flush(ctx, list, options)
	}
	if err != nil {
		return nil, err
	}
	r.flushes[o.Flush] = stream
	return readEvents(stream, o.Until)
}

func readEvents(stream *condense.FlushStream, until string) (any, error) {
	events, batches, completed := []string{}, []object{}, any(nil)
	for {
		event, err := stream.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		kind := kindOf(event)
		events = append(events, kind)
		if batch := event.GetBatchFinished(); batch != nil {
			batches = append(batches, object{"outcome": batch.GetOutcome().String(), "refs": append([]string{}, batch.GetRefs()...)})
		}
		if done := event.GetCompleted(); done != nil {
			completed = object{"outcome": done.GetOutcome().String(), "summarizedBatches": done.GetCounts().GetSummarizedBatches(), "blocks": len(done.GetBlockIds())}
		}
		if kind == until {
			break
		}
	}
	return object{"events": events, "batches": batches, "completed": completed}, nil
}

func kindOf(event *condensev1.FlushEvent) string {
	message := event.ProtoReflect()
	return message.WhichOneof(message.Descriptor().Oneofs().ByName("event")).JSONName()
}

func query(ctx context.Context, s *session, o *order) (any, error) {
	var slices []*condensev1.Slice
	for _, wanted := range o.Slices {
		slices = append(slices, wanted.made())
	}
	answer, err := s.Query(ctx, o.Refs, slices...)
	if err != nil {
		return nil, err
	}
	results := []object{}
	for _, result := range answer.Results {
		blocks := []object{}
		for _, block := range result.GetBlocks() {
			blocks = append(blocks, object{
				"label": block.GetLabel(), "text": block.GetText(), "truncated": block.GetTruncated(), "totalLines": block.GetTotalLines(),
				"ref": block.GetRecord().GetRef(), "argumentsJson": block.GetRecord().GetArgumentsJson(),
			})
		}
		results = append(results, object{"requested": result.GetRequested(), "found": result.GetFound(), "blocks": blocks})
	}
	return object{"text": answer.Text, "results": results}, nil
}

func (wanted slice) made() *condensev1.Slice {
	var made *condensev1.Slice
	switch {
	case wanted.Lines != nil:
		made = condense.Lines(wanted.Ref, *wanted.Lines[0], end(wanted.Lines))
	case wanted.Chars != nil:
		made = condense.Chars(wanted.Ref, *wanted.Chars[0], end(wanted.Chars))
	case wanted.Regex:
		made = condense.MatchesRegexp(wanted.Ref, wanted.Pattern, wanted.ContextLines)
	default:
		made = condense.Matches(wanted.Ref, wanted.Pattern, wanted.ContextLines)
	}
	made.MaxChars = wanted.MaxChars
	return made
}

func end(ends []*int64) int64 {
	if ends[1] == nil {
		return condense.ToEnd
	}
	return *ends[1]
}

func read(ctx context.Context, s *session, ref string) (any, error) {
	original, err := s.Read(ctx, ref)
	if err != nil {
		return nil, err
	}
	defer original.Close()
	text, err := io.ReadAll(original)
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(text)
	chars := 0
	for _, octet := range text {
		if octet&0xC0 != 0x80 { // the first byte of a character, or of half of one
			chars++
		}
	}
	return object{"chars": chars, "sha256": hex.EncodeToString(digest[:])}, nil
}

// What scenarios call the kinds, most special ones first.
var names = []struct {
	kind *condense.Kind
	name string
}{
	{condense.ErrSessionIDInvalid, "SessionIdInvalid"}, {condense.ErrMessageInvalid, "MessageInvalid"},
	{condense.ErrMessageTooLarge, "MessageTooLarge"}, {condense.ErrDeltaTooLarge, "DeltaTooLarge"},
	{condense.ErrNativeJSONInvalid, "NativeJsonInvalid"}, {condense.ErrConfigInvalid, "ConfigInvalid"},
	{condense.ErrPageTokenInvalid, "PageTokenInvalid"}, {condense.ErrPatternInvalid, "PatternInvalid"},
	{condense.ErrSummarizerUnknown, "SummarizerUnknown"}, {condense.ErrRequestInvalid, "RequestInvalid"},
	{condense.ErrSessionNotFound, "SessionNotFound"}, {condense.ErrSessionAlreadyExists, "SessionAlreadyExists"},
	{condense.ErrTranscriptMismatch, "TranscriptMismatch"}, {condense.ErrFlushInProgress, "FlushInProgress"},
	{condense.ErrRevisionConflict, "RevisionConflict"}, {condense.ErrQuotaExceeded, "QuotaExceeded"},
	{condense.ErrUnauthenticated, "Unauthenticated"}, {condense.ErrPermissionDenied, "PermissionDenied"},
	{condense.ErrNotImplemented, "NotImplemented"}, {condense.ErrInternal, "Internal"},
	{condense.ErrStoreUnavailable, "StoreUnavailable"}, {condense.ErrShuttingDown, "ShuttingDown"},
	{condense.ErrUnavailable, "Unavailable"}, {condense.ErrDeadlineExceeded, "DeadlineExceeded"},
	{condense.ErrCancelled, "Cancelled"}, {condense.ErrResultNotFound, "ResultNotFound"},
}

func errorReport(err error) object {
	report := object{"type": "Other", "message": err.Error()}
	for _, one := range names {
		if errors.Is(err, one.kind) {
			report["type"] = one.name
			break
		}
	}
	var failure *condense.Error
	if errors.As(err, &failure) {
		violations := []object{}
		for _, violation := range failure.Violations {
			violations = append(violations, object{"field": violation.Field, "description": violation.Description})
		}
		report["reason"], report["metadata"], report["violations"] = failure.Reason, failure.Metadata, violations
		report["message"], report["retryAfterSeconds"] = strings.TrimSpace(failure.Message), nil
		if delay, isTold := failure.RetryAfter(); isTold {
			report["retryAfterSeconds"] = delay.Seconds()
		}
	}
	return report
}

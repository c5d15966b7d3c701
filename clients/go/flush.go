package condense

import (
	"context"
	"errors"
	"io"
	"iter"

	"google.golang.org/grpc"

	condensev1 "github.com/condense-grpc/condense-grpc/clients/go/gen/condense/v1"
)

// FlushOptions are what a flush can be told, as FlushBatchesRequest names it.
type FlushOptions struct {
	// Trigger is why the caller flushes; kept in the metrics of the flush.
	Trigger condensev1.FlushTrigger
	// Alone fails with ErrFlushInProgress if a flush is running, instead of following it.
	Alone bool
	// Compact compresses all eligible chains, also those within the rolling window.
	Compact bool
	// DryRun only tells what would be flushed.
	DryRun bool
}

// Flush condenses what is pending, messages (the whole raw history) included; nil: what the server has. It returns
// when the flush has begun; what happens is in the stream, which must be closed or read to its end.
//
// Closing the stream before its end, or ending ctx, stops a flush that this call has started; one that it follows goes
// on.
func (s *Session[T]) Flush(ctx context.Context, messages []T, options ...FlushOptions) (*FlushStream, error) {
	var chosen FlushOptions
	if len(options) > 0 {
		chosen = options[0]
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	ctx = s.outgoing(ctx)
	request := &condensev1.FlushBatchesRequest{
		SessionId:   s.ID(),
		Trigger:     chosen.Trigger,
		Attach:      !chosen.Alone,
		Compact:     chosen.Compact,
		DryRun:      chosen.DryRun,
		Config:      s.delivery.config,
		JointEvents: true,
	}
	if request.Trigger == condensev1.FlushTrigger_FLUSH_TRIGGER_UNSPECIFIED {
		request.Trigger = condensev1.FlushTrigger_FLUSH_TRIGGER_MANUAL
	}
	if messages == nil {
		return openFlush(ctx, s.client(), request, s.client().condense.FlushBatches)
	}
	list, err := s.draft(messages)
	if err != nil {
		return nil, err
	}
	if list.deltaBytes(list.base()) <= s.client().options.UnaryDeltaBytes {
		request.Delta = list.delta(list.base())
	}
	for refusals := 1; ; refusals++ {
		if request.Delta == nil { // an upload finds out what the server has
			if request.Delta, err = s.delivery.append(ctx, list); err != nil {
				return nil, err
			}
		}
		stream, err := openFlush(ctx, s.client(), request, s.client().condense.FlushBatches)
		heals := errors.Is(err, ErrTranscriptMismatch) || errors.Is(err, ErrDeltaTooLarge)
		if !heals || refusals == maxBases {
			return stream, err
		}
		request.Delta = nil
	}
}

// Compact compresses every finished chain. Otherwise like Flush.
func (s *Session[T]) Compact(ctx context.Context, options ...FlushOptions) (*FlushStream, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	request := &condensev1.CompactChainsRequest{SessionId: s.ID(), Attach: true, JointEvents: true}
	if len(options) > 0 {
		request.Attach = !options[0].Alone
	}
	return openFlush(s.outgoing(ctx), s.client(), request, s.client().condense.CompactChains)
}

// A FlushStream is the events of a flush or a compaction as they come, for one reader.
type FlushStream struct {
	receive   func() ([]*condensev1.FlushEvent, error)
	cancel    context.CancelFunc
	waiting   []*condensev1.FlushEvent // the rest of a response
	completed *condensev1.FlushCompleted
	ended     error
}

// Next waits for the next event. After the last one, which is always completed, it is io.EOF.
func (f *FlushStream) Next() (*condensev1.FlushEvent, error) {
	for f.ended == nil {
		for len(f.waiting) > 0 {
			event := f.waiting[0]
			f.waiting = f.waiting[1:]
			if event.GetEvent() == nil {
				continue // of a kind that this client does not know
			}
			if done := event.GetCompleted(); done != nil {
				f.completed = done
			}
			return event, nil
		}
		var err error
		f.waiting, err = f.receive()
		switch {
		case err == nil:
			continue
		case errors.Is(err, io.EOF) && f.completed != nil:
			f.ended = io.EOF
		case errors.Is(err, io.EOF):
			f.ended = refused(ErrOther, "the stream ended before its last event: the outcome is in the diagnostics", nil)
		default:
			f.ended = errorOf(err)
		}
		f.cancel()
	}
	return nil, f.ended
}

// All is the events to range over. Leaving the loop early closes the stream.
func (f *FlushStream) All() iter.Seq2[*condensev1.FlushEvent, error] {
	return func(yield func(*condensev1.FlushEvent, error) bool) {
		defer f.Close()
		for {
			event, err := f.Next()
			if err == io.EOF || !yield(event, err) || err != nil {
				return
			}
		}
	}
}

// Wait reads to the end and tells how it ended.
func (f *FlushStream) Wait() (*condensev1.FlushCompleted, error) {
	for _, err := range f.All() {
		if err != nil {
			return nil, err
		}
	}
	return f.completed, nil
}

// Close leaves the stream. Closing again does nothing.
func (f *FlushStream) Close() {
	if f.ended == nil {
		f.ended = refused(ErrCancelled, "the stream was closed: the outcome is in the diagnostics", nil)
	}
	f.cancel()
}

// telling is a response of a flush or a compaction.
type telling interface {
	GetEvent() *condensev1.FlushEvent
	GetFurtherEvents() []*condensev1.FlushEvent
}

func eventsOf(response telling) []*condensev1.FlushEvent {
	return append([]*condensev1.FlushEvent{response.GetEvent()}, response.GetFurtherEvents()...)
}

// openFlush opens a stream of events. Until the first response has come, it is tried again.
func openFlush[Request any, Response telling, Stream interface{ Recv() (Response, error) }](
	ctx context.Context, client *Client, request Request,
	method func(context.Context, Request, ...grpc.CallOption) (Stream, error),
) (*FlushStream, error) {
	var opened *FlushStream
	err := withRetries(ctx, client.options.Retry, func() error {
		attempt, cancel := context.WithCancel(ctx)
		stream, err := method(attempt, request)
		if err == nil {
			var first Response
			if first, err = stream.Recv(); err == nil {
				receive := func() ([]*condensev1.FlushEvent, error) {
					response, err := stream.Recv()
					if err != nil {
						return nil, err
					}
					return eventsOf(response), nil
				}
				opened = &FlushStream{receive: receive, cancel: cancel, waiting: eventsOf(first)}
				return nil
			}
		}
		cancel()
		return err
	})
	return opened, err
}

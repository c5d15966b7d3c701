package condense

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	condensev1 "github.com/condense-grpc/condense-grpc/clients/go/gen/condense/v1"
)

// streamServer sends what a test wants, and then waits for the client to leave, or ends.
type streamServer struct {
	fakeServer
	events   []*condensev1.FlushEvent
	together int // so many events in a response, if the client likes
	waits    bool
	left     chan struct{}
	failures int
	text     string
	breaks   int
}

func (s *streamServer) FlushBatches(request *condensev1.FlushBatchesRequest, stream grpc.ServerStreamingServer[condensev1.FlushBatchesResponse]) error {
	if s.failures > 0 {
		s.failures--
		return refusal(codes.Aborted, "REVISION_CONFLICT", nil)
	}
	for events := range s.responses(request.GetJointEvents()) {
		if err := stream.Send(&condensev1.FlushBatchesResponse{Event: events[0], FurtherEvents: events[1:]}); err != nil {
			return err
		}
	}
	if s.waits {
		<-stream.Context().Done()
		close(s.left)
	}
	return nil
}

func (s *streamServer) CompactChains(request *condensev1.CompactChainsRequest, stream grpc.ServerStreamingServer[condensev1.CompactChainsResponse]) error {
	for events := range s.responses(request.GetJointEvents()) {
		if err := stream.Send(&condensev1.CompactChainsResponse{Event: events[0], FurtherEvents: events[1:]}); err != nil {
			return err
		}
	}
	return nil
}

func (s *streamServer) responses(joint bool) iter.Seq[[]*condensev1.FlushEvent] {
	if !joint {
		return slices.Chunk(s.events, 1)
	}
	return slices.Chunk(s.events, max(s.together, 1))
}

func (s *streamServer) ReadToolResult(request *condensev1.ReadToolResultRequest, stream grpc.ServerStreamingServer[condensev1.ReadToolResultResponse]) error {
	if request.GetRef() != "t1" {
		return stream.Send(&condensev1.ReadToolResultResponse{})
	}
	for at := int(request.GetOffsetBytes()); at < len(s.text); at++ {
		if s.breaks > 0 && at > 0 && at%3 == 0 {
			s.breaks--
			return status.Error(codes.Unavailable, "the connection is gone")
		}
		chunk := &condensev1.ReadToolResultResponse{Found: true, OffsetBytes: int64(at), Data: []byte(s.text[at : at+1])}
		if err := stream.Send(chunk); err != nil {
			return err
		}
	}
	return nil
}

func streaming(t *testing.T, fake *streamServer) *Session[any] {
	t.Helper()
	fake.left = make(chan struct{})
	client := connectTo(t, func(server *grpc.Server) { condensev1.RegisterCondenseServiceServer(server, fake) })
	return NewSession[any](client, "s", OpenAIChat)
}

func started() *condensev1.FlushEvent {
	return &condensev1.FlushEvent{Event: &condensev1.FlushEvent_Started{Started: &condensev1.FlushStarted{}}}
}

func notice() *condensev1.FlushEvent {
	return &condensev1.FlushEvent{Event: &condensev1.FlushEvent_Notice{Notice: &condensev1.Notice{}}}
}

func completed() *condensev1.FlushEvent {
	return &condensev1.FlushEvent{Event: &condensev1.FlushEvent_Completed{Completed: &condensev1.FlushCompleted{Revision: "r2"}}}
}

func TestEventsComeInOrderAndUnknownOnesAreLeftOut(t *testing.T) {
	session := streaming(t, &streamServer{failures: 2, events: []*condensev1.FlushEvent{started(), {}, completed()}})
	flush, err := session.Flush(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for event, err := range flush.All() {
		if err != nil || event.GetEvent() == nil {
			t.Error(event, err)
		}
		count++
	}
	if _, err := flush.Next(); count != 2 || err != io.EOF {
		t.Errorf("%d events, then %v", count, err)
	}
}

func TestEventsComeOneByOneHoweverManyAResponseHas(t *testing.T) {
	open := map[string]func(*Session[any]) (*FlushStream, error){
		"flush":   func(session *Session[any]) (*FlushStream, error) { return session.Flush(context.Background(), nil) },
		"compact": func(session *Session[any]) (*FlushStream, error) { return session.Compact(context.Background()) },
	}
	events := []*condensev1.FlushEvent{started(), {}, notice(), {}, completed()}
	for number, event := range events {
		event.Sequence = int64(number + 1)
	}
	for name, how := range open {
		for together := 1; together <= len(events); together++ {
			flush, err := how(streaming(t, &streamServer{events: events, together: together}))
			if err != nil {
				t.Fatal(name, together, err)
			}
			var told []int64
			for event, err := range flush.All() {
				if err != nil {
					t.Fatal(name, together, err)
				}
				told = append(told, event.GetSequence())
			}
			if !slices.Equal(told, []int64{1, 3, 5}) {
				t.Error(name, together, told)
			}
			if done, err := flush.Wait(); done.GetRevision() != "r2" || err != nil {
				t.Error(name, together, done, err)
			}
		}
	}
}

func TestAResponseOfManyEventsIsLeftInItsMiddle(t *testing.T) {
	fake := &streamServer{events: []*condensev1.FlushEvent{started(), notice(), notice()}, together: 3, waits: true}
	flush, err := streaming(t, fake).Flush(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if event, err := flush.Next(); event.GetStarted() == nil || err != nil {
		t.Error(event, err)
	}
	flush.Close()
	<-fake.left
	if event, err := flush.Next(); !errors.Is(err, ErrCancelled) {
		t.Error(event, err)
	}
}

func TestWaitTellsHowItEnded(t *testing.T) {
	flush, err := streaming(t, &streamServer{events: []*condensev1.FlushEvent{started(), completed()}}).Flush(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if done, err := flush.Wait(); err != nil || done.GetRevision() != "r2" {
		t.Error(done, err)
	}
}

func TestAStreamWithoutItsLastEventIsAnError(t *testing.T) {
	for together := 1; together <= 3; together++ {
		fake := &streamServer{events: []*condensev1.FlushEvent{started(), notice(), {}}, together: together}
		flush, err := streaming(t, fake).Flush(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if done, err := flush.Wait(); !errors.Is(err, ErrOther) {
			t.Error(together, done, err)
		}
	}
}

func TestLeavingAStreamCancelsTheCall(t *testing.T) {
	leave := map[string]func(*FlushStream, context.CancelFunc){
		"close": func(flush *FlushStream, _ context.CancelFunc) { flush.Close(); flush.Close() },
		"break": func(flush *FlushStream, _ context.CancelFunc) {
			for range flush.All() {
				break
			}
		},
		"context": func(flush *FlushStream, cancel context.CancelFunc) { cancel() },
	}
	for name, how := range leave {
		fake := &streamServer{events: []*condensev1.FlushEvent{started()}, waits: true}
		ctx, cancel := context.WithCancel(context.Background())
		flush, err := streaming(t, fake).Flush(ctx, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		how(flush, cancel)
		<-fake.left
		if name == "context" {
			_, _ = flush.Next() // the first event, which was there already
		}
		if _, err := flush.Next(); !errors.Is(err, ErrCancelled) {
			t.Error(name, err)
		}
		cancel()
	}
}

func TestAnOriginalIsReadOnBehindEveryBreak(t *testing.T) {
	session := streaming(t, &streamServer{text: "0123456789abcdef", breaks: 4})
	original, err := session.Read(context.Background(), "t1")
	if err != nil {
		t.Fatal(err)
	}
	defer original.Close()
	if text, err := io.ReadAll(original); string(text) != "0123456789abcdef" || err != nil {
		t.Error(string(text), err)
	}
	if _, err := session.Read(context.Background(), "t2"); !errors.Is(err, ErrResultNotFound) {
		t.Error(err)
	}
}

func TestAnOriginalThatBreaksAtOnePlaceAgainAndAgainIsAnError(t *testing.T) {
	session := streaming(t, &streamServer{text: "0123456789abcdef", breaks: 100})
	original, err := session.Read(context.Background(), "t1")
	if err != nil {
		t.Fatal(err)
	}
	defer original.Close()
	if text, err := io.ReadAll(original); !errors.Is(err, ErrUnavailable) || string(text) != "012" {
		t.Error(string(text), err)
	}
}

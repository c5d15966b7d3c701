package condense

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net"
	"strconv"
	"sync"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	condensev1 "github.com/condense-grpc/condense-grpc/clients/go/gen/condense/v1"
)

func shown(slice *condensev1.Slice) string {
	switch selection := slice.GetSelection().(type) {
	case *condensev1.Slice_Lines:
		return fmt.Sprintf("%s lines %d+%s", slice.GetRef(), selection.Lines.GetStartLine(), optional(selection.Lines.LineCount))
	case *condensev1.Slice_Chars:
		return fmt.Sprintf("%s chars %d-%s", slice.GetRef(), selection.Chars.GetStartChar(), optional(selection.Chars.EndChar))
	case *condensev1.Slice_Pattern:
		kind := "text"
		if selection.Pattern.GetRegex() {
			kind = "regex"
		}
		return fmt.Sprintf("%s %s %s %d", slice.GetRef(), kind, selection.Pattern.GetPattern(), selection.Pattern.GetContextLines())
	}
	return slice.GetRef()
}

func optional(value *int64) string {
	if value == nil {
		return ""
	}
	return strconv.FormatInt(*value, 10)
}

// fakeServer keeps a list as the contract says, and renders nothing. It can lose answers, and forget.
type fakeServer struct {
	condensev1.UnimplementedCondenseServiceServer
	lock   sync.Mutex
	list   []string
	lose   int // so many answers from now on do not arrive
	limit  int // the largest delta in bytes; 0: any
	chunks []int
}

func etag(list []string) string {
	digest := sha256.New()
	for _, element := range list {
		fmt.Fprintf(digest, "%d:%s", len(element), element)
	}
	return fmt.Sprintf("%x", digest.Sum(nil)[:6])
}

func refusal(code codes.Code, reason string, metadata map[string]string) error {
	made, err := status.New(code, reason).WithDetails(&errdetails.ErrorInfo{Domain: domain, Reason: reason, Metadata: metadata})
	if err != nil {
		panic(err)
	}
	return made.Err()
}

func (s *fakeServer) append(delta *condensev1.TranscriptDelta, payload []byte) error {
	base := int(delta.GetBaseLength())
	if base > len(s.list) || (delta.GetBaseEtag() != "" && delta.GetBaseEtag() != etag(s.list[:base])) {
		return refusal(codes.FailedPrecondition, "TRANSCRIPT_MISMATCH", map[string]string{
			"serverLength": strconv.Itoa(len(s.list)), "serverEtag": etag(s.list),
		})
	}
	var elements []json.RawMessage
	if err := json.Unmarshal(payload, &elements); err != nil {
		return refusal(codes.InvalidArgument, "NATIVE_JSON_INVALID", nil)
	}
	s.list = s.list[:base:base]
	for _, element := range elements {
		s.list = append(s.list, string(element))
	}
	if s.lose > 0 {
		s.lose--
		return status.Error(codes.Unavailable, "the answer is lost")
	}
	return nil
}

func (s *fakeServer) PruneMessages(_ context.Context, request *condensev1.PruneMessagesRequest) (*condensev1.PruneMessagesResponse, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	payload := request.GetDelta().GetNative().GetJson()
	if s.limit > 0 && len(payload) > s.limit {
		return nil, refusal(codes.InvalidArgument, "DELTA_TOO_LARGE", nil)
	}
	if err := s.append(request.GetDelta(), payload); err != nil {
		return nil, err
	}
	return &condensev1.PruneMessagesResponse{TranscriptLength: int64(len(s.list)), TranscriptEtag: etag(s.list), Revision: "r"}, nil
}

func (s *fakeServer) AppendMessages(stream grpc.ClientStreamingServer[condensev1.AppendMessagesRequest, condensev1.AppendMessagesResponse]) error {
	var delta *condensev1.TranscriptDelta
	var elements []json.RawMessage
	for {
		request, err := stream.Recv()
		if err != nil {
			break
		}
		if delta == nil {
			delta = request.GetDelta()
		}
		var more []json.RawMessage
		if err := json.Unmarshal(request.GetDelta().GetNative().GetJson(), &more); err != nil {
			return refusal(codes.InvalidArgument, "NATIVE_JSON_INVALID", nil)
		}
		s.chunks = append(s.chunks, len(request.GetDelta().GetNative().GetJson()))
		elements = append(elements, more...)
	}
	payload, _ := json.Marshal(elements)
	if elements == nil {
		payload = []byte("[]")
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	if err := s.append(delta, payload); err != nil {
		return err
	}
	return stream.SendAndClose(&condensev1.AppendMessagesResponse{TranscriptLength: int64(len(s.list)), TranscriptEtag: etag(s.list)})
}

func connect(t *testing.T, fake *fakeServer, options ...Option) *Client {
	t.Helper()
	return connectTo(t, func(server *grpc.Server) { condensev1.RegisterCondenseServiceServer(server, fake) }, options...)
}

func connectTo(t *testing.T, register func(*grpc.Server), options ...Option) *Client {
	t.Helper()
	listener := bufconn.Listen(mib)
	server := grpc.NewServer()
	register(server)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	dial := grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) })
	client, err := NewClient("passthrough:fake", append(options, With(func(o *Options) { o.DialOptions = append(o.DialOptions, dial) }))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

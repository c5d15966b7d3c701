package condense

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"

	condensev1 "github.com/condense-grpc/condense-grpc/clients/go/gen/condense/v1"
)

// Read streams one original, verbatim and of any size, as UTF-8; a lone surrogate, which escapes of JSON can say, comes
// as the three bytes that it would have. After a broken connection it goes on where that ended. A ref that names no
// single result is ErrResultNotFound. The reader must be closed.
func (s *Session[T]) Read(ctx context.Context, ref string) (io.ReadCloser, error) {
	if err := s.check(ref); err != nil {
		return nil, err
	}
	original := &original{client: s.client(), ctx: s.outgoing(ctx), request: &condensev1.ReadToolResultRequest{SessionId: s.ID(), Ref: ref}}
	if err := original.open(); err != nil {
		return nil, err
	}
	return original, nil
}

// An original is a stream of ReadToolResult, opened again behind what has arrived when it breaks.
type original struct {
	client   *Client
	ctx      context.Context
	request  *condensev1.ReadToolResultRequest
	stream   grpc.ServerStreamingClient[condensev1.ReadToolResultResponse]
	cancel   context.CancelFunc
	rest     []byte
	brokenAt int64
}

func (o *original) open() error {
	o.brokenAt = o.request.GetOffsetBytes()
	return withRetries(o.ctx, o.client.options.Retry, func() error {
		o.close()
		attempt, cancel := context.WithCancel(o.ctx)
		stream, err := o.client.condense.ReadToolResult(attempt, o.request)
		o.stream, o.cancel = stream, cancel
		if err == nil {
			err = o.receive()
		}
		if err != nil && !errors.Is(err, io.EOF) {
			o.close()
			return err
		}
		return nil
	})
}

func (o *original) receive() error {
	chunk, err := o.stream.Recv()
	if err != nil {
		return err
	}
	if !chunk.GetFound() {
		message := fmt.Sprintf("%q names no result of this session, or several: use a ref", o.request.GetRef())
		return refused(ErrResultNotFound, message, nil)
	}
	o.rest = chunk.GetData()
	o.request.OffsetBytes = chunk.GetOffsetBytes() + int64(len(o.rest))
	return nil
}

// Read gives the next bytes of the original.
func (o *original) Read(into []byte) (int, error) {
	for len(o.rest) == 0 {
		err := o.receive()
		switch {
		case errors.Is(err, io.EOF):
			return 0, io.EOF
		case err == nil:
		case errors.Is(errorOf(err), ErrUnavailable) && o.brokenAt != o.request.GetOffsetBytes():
			if err := o.open(); err != nil {
				return 0, err
			}
		default:
			return 0, errorOf(err)
		}
	}
	count := copy(into, o.rest)
	o.rest = o.rest[count:]
	return count, nil
}

// Close leaves the stream.
func (o *original) Close() error {
	o.close()
	return nil
}

func (o *original) close() {
	if o.cancel != nil {
		o.cancel()
	}
}

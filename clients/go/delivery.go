package condense

import (
	"context"
	"errors"
	"fmt"
	"sync"

	condensev1 "github.com/condense-grpc/condense-grpc/clients/go/gen/condense/v1"
)

const maxBases = 5

// A delivery brings lists of the caller to the server, whatever has happened before: lost answers, rewinds, a server
// that forgot. A delta starts at the latest checkpoint that the list still agrees with. If the server refuses that
// base, the next try starts at an earlier one, and after a few tries at 0, which the server never refuses. Deltas that
// are too big for one request are uploaded in chunks first; then nothing is left to send with the request itself.
type delivery struct {
	client    *Client
	sessionID string
	config    *condensev1.SessionConfig

	lock sync.Mutex
	sent *sentHistory
}

func (d *delivery) history() *sentHistory {
	d.lock.Lock()
	defer d.lock.Unlock()
	return d.sent
}

func (d *delivery) remember(sent *sentHistory) {
	d.lock.Lock()
	defer d.lock.Unlock()
	d.sent = sent
}

// prune delivers a draft with a PruneMessages. Not stored: a dry run, which changes nothing anywhere.
func (d *delivery) prune(ctx context.Context, list *draft, request *condensev1.PruneMessagesRequest, stored bool) (*condensev1.PruneMessagesResponse, error) {
	options := d.client.options
	base, upload := list.base(), false
	for range maxBases {
		var err error
		uploading := stored && (upload || list.deltaBytes(base) > options.UnaryDeltaBytes)
		if uploading {
			base, err = d.upload(ctx, list, base)
		}
		if err == nil {
			uploading, upload = false, false
			request.Delta = list.delta(base)
			var response *condensev1.PruneMessagesResponse
			response, err = call(ctx, d.client, options.CallTimeout, request, d.client.condense.PruneMessages)
			if err == nil {
				if stored {
					_, err = d.accept(list, base, response.GetTranscriptLength(), response.GetTranscriptEtag())
				}
				return response, err
			}
		}
		switch {
		case errors.Is(err, ErrDeltaTooLarge) && !uploading && stored:
			upload = true
		case errors.Is(err, ErrTranscriptMismatch) && base != start:
			base = list.sent.baseAfterMismatch(base, errorOf(err).Metadata)
		default:
			return nil, err
		}
	}
	return nil, disagreement(list)
}

// append delivers a draft by an upload, and gives the delta that says: exactly this.
func (d *delivery) append(ctx context.Context, list *draft) (*condensev1.TranscriptDelta, error) {
	base := list.base()
	for range maxBases {
		accepted, err := d.upload(ctx, list, base)
		if err == nil {
			return list.delta(accepted), nil
		}
		if !errors.Is(err, ErrTranscriptMismatch) || base == start {
			return nil, err
		}
		base = list.sent.baseAfterMismatch(base, errorOf(err).Metadata)
	}
	return nil, disagreement(list)
}

func (d *delivery) upload(ctx context.Context, list *draft, base checkpoint) (checkpoint, error) {
	var response *condensev1.AppendMessagesResponse
	err := withRetries(ctx, d.client.options.Retry, func() error {
		attempt, cancel := bounded(ctx, d.client.options.UploadTimeout)
		defer cancel()
		stream, err := d.client.condense.AppendMessages(attempt)
		if err != nil {
			return err
		}
		first := &condensev1.AppendMessagesRequest{SessionId: d.sessionID, Config: d.config}
		// A send that fails says io.EOF; what has happened comes with the answer.
		_ = list.chunks(base, d.client.options.ChunkBytes, first, stream.Send)
		response, err = stream.CloseAndRecv()
		return err
	})
	if err != nil {
		return base, err
	}
	return d.accept(list, base, response.GetTranscriptLength(), response.GetTranscriptEtag())
}

func (d *delivery) accept(list *draft, base checkpoint, length int64, etag string) (checkpoint, error) {
	if int(length) != len(list.texts) {
		return base, disagreement(list)
	}
	d.remember(list.accept(base, etag))
	return list.base(), nil
}

func disagreement(list *draft) *Error {
	return refused(ErrOther, fmt.Sprintf(
		"client and server do not agree about a history of %d messages: check that client and server are of the same release, and that one client writes to the session",
		len(list.texts),
	), nil)
}

package condense

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	condensev1 "github.com/condense-grpc/condense-grpc/clients/go/gen/condense/v1"
)

// A draft is a list of the caller on its way to the server: each element as JSON, compared with what was sent.
// Whatever cannot be sent is refused here, with its place and before anything has left.
type draft struct {
	format    condensev1.MessageFormat
	texts     [][]byte
	digests   []digest
	sent      *sentHistory
	unchanged int
}

func newDraft[T any](format condensev1.MessageFormat, list []T, sent *sentHistory, maxBytes int) (*draft, error) {
	made := &draft{format: format, texts: make([][]byte, len(list)), digests: make([]digest, len(list)), sent: sent}
	for index, element := range list {
		text, err := textOf(element)
		if err != nil {
			return nil, invalid(index, "cannot be written as JSON: "+err.Error())
		}
		made.texts[index], made.digests[index] = text, sha256.Sum256(text)
	}
	made.unchanged = sent.countUnchanged(made.digests)
	for index := made.unchanged; index < len(list); index++ {
		if err := check(index, made.texts[index], maxBytes); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// textOf is the JSON of an element. Raw JSON is taken as it is.
func textOf(element any) ([]byte, error) {
	switch element := element.(type) {
	case json.RawMessage:
		return element, nil
	case []byte:
		return element, nil
	}
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(element)
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), err
}

func check(index int, text []byte, maxBytes int) error {
	switch {
	case len(text) > maxBytes:
		return refused(ErrMessageTooLarge, fmt.Sprintf(
			"message %d has %d bytes, more than the %d of one gRPC message: make it smaller, or raise the limit of client and server",
			index, len(text), maxBytes,
		), map[string]string{"messageIndex": strconv.Itoa(index), "bytes": strconv.Itoa(len(text)), "maxBytes": strconv.Itoa(maxBytes)})
	case !bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{")) || !json.Valid(text):
		return invalid(index, "is no JSON object")
	case !utf8.Valid(text):
		return invalid(index, "is no UTF-8: a lone surrogate is written as its escape, for example \\ud83d")
	}
	return nil
}

func invalid(index int, what string) *Error {
	return refused(ErrMessageInvalid, fmt.Sprintf("message %d %s", index, what), map[string]string{"messageIndex": strconv.Itoa(index)})
}

func (d *draft) base() checkpoint { return d.sent.baseFor(d.unchanged) }

// accept takes note that the server has the whole list, at this etag, after a delta from base.
func (d *draft) accept(base checkpoint, etag string) *sentHistory {
	d.sent, d.unchanged = d.sent.accepted(base, d.digests, etag), len(d.digests)
	return d.sent
}

// deltaBytes is the size of the elements behind a base, nearly.
func (d *draft) deltaBytes(base checkpoint) int {
	size := 0
	for _, text := range d.texts[base.length:] {
		size += len(text) + 1
	}
	return size
}

// delta is everything behind a base. An empty list is sent too: the transcript ends at the base then.
func (d *draft) delta(base checkpoint) *condensev1.TranscriptDelta {
	delta := deltaAt(base)
	delta.Payload = d.payload(d.texts[base.length:])
	return delta
}

func deltaAt(base checkpoint) *condensev1.TranscriptDelta {
	return &condensev1.TranscriptDelta{BaseLength: int64(base.length), BaseEtag: base.etag, CreateIfMissing: true}
}

func (d *draft) payload(texts [][]byte) *condensev1.TranscriptDelta_Native {
	array := append([]byte("["), bytes.Join(texts, []byte(","))...)
	return &condensev1.TranscriptDelta_Native{Native: &condensev1.NativeMessages{Format: d.format, Json: append(array, ']')}}
}

// chunks calls send with everything behind a base as the requests of an upload, at least one, of about that size. A
// larger element is alone in its chunk.
func (d *draft) chunks(base checkpoint, size int, first *condensev1.AppendMessagesRequest, send func(*condensev1.AppendMessagesRequest) error) error {
	request, from, filled := first, base.length, 0
	request.Delta = deltaAt(base)
	for index := base.length; index < len(d.texts); index++ {
		if index > from && filled+len(d.texts[index]) > size {
			request.Delta.Payload = d.payload(d.texts[from:index])
			if err := send(request); err != nil {
				return err
			}
			request, from, filled = &condensev1.AppendMessagesRequest{Delta: &condensev1.TranscriptDelta{}}, index, 0
		}
		filled += len(d.texts[index])
	}
	request.Delta.Payload = d.payload(d.texts[from:])
	return send(request)
}

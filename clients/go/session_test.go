package condense

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	condensev1 "github.com/condense-grpc/condense-grpc/clients/go/gen/condense/v1"
)

// Whatever happens to the caller's list and to the server: after a prune the server has exactly the list, and a prune
// that fails says that no answer came and is made good by the next.
func TestTheServerHasTheCallersListWhateverHappens(t *testing.T) {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 1))
		fake := &fakeServer{limit: []int{0, 40}[random.IntN(2)]}
		client := connect(t, fake, With(func(o *Options) {
			o.Retry = RetryPolicy{MaxAttempts: 3, FirstDelay: time.Microsecond, MaxDelay: time.Millisecond}
			o.UnaryDeltaBytes, o.ChunkBytes = []int{30, 200}[random.IntN(2)], 25
		}))
		session := NewSession[json.RawMessage](client, "s", OpenAIChat)
		var list []json.RawMessage
		for step := range 40 {
			switch random.IntN(6) {
			case 0, 1, 2:
				for range random.IntN(5) {
					list = append(list, json.RawMessage(fmt.Sprintf(`{"n":%d}`, random.IntN(3))))
				}
			case 3:
				list = append([]json.RawMessage(nil), list[:random.IntN(len(list)+1)]...)
			case 4:
				fake.list = fake.list[:random.IntN(len(fake.list)+1)]
				if random.IntN(3) == 0 {
					fake.list = append(fake.list[:len(fake.list):len(fake.list)], `{"n":9}`)
				}
			case 5:
				fake.lose = random.IntN(5)
			}
			view, err := session.Prune(context.Background(), list)
			if errors.Is(err, ErrUnavailable) {
				fake.lose = 0
				view, err = session.Prune(context.Background(), list)
			}
			if err != nil || len(view.Messages) != len(list) {
				t.Fatalf("seed %d, step %d: %v", seed, step, err)
			}
			if !reflect.DeepEqual(append([]string{}, fake.list...), texts(list)) {
				t.Fatalf("seed %d, step %d: the server has %v instead of %v", seed, step, fake.list, texts(list))
			}
		}
	}
}

func TestLargeDeltasAreUploadedInChunks(t *testing.T) {
	fake := &fakeServer{}
	client := connect(t, fake, With(func(o *Options) { o.UnaryDeltaBytes, o.ChunkBytes = 1000, 400 }))
	session := NewSession[json.RawMessage](client, "s", OpenAIChat)
	list := raw(`{"text":"` + strings.Repeat("x", 900) + `"}`)
	for number := range 20 {
		list = append(list, json.RawMessage(fmt.Sprintf(`{"text":"%0100d"}`, number)))
	}
	if _, err := session.Prune(context.Background(), list); err != nil || !reflect.DeepEqual(fake.list, texts(list)) {
		t.Fatal(err, len(fake.list))
	}
	if len(fake.chunks) < 6 {
		t.Errorf("chunks of %v", fake.chunks)
	}
	for number, size := range fake.chunks {
		if size > 420 && number > 0 {
			t.Errorf("chunk %d has %d bytes", number, size)
		}
	}
}

func TestTheDoorNamesTheMessage(t *testing.T) {
	client := connect(t, &fakeServer{}, With(func(o *Options) { o.MaxMessageBytes = 1000 }))
	session := NewSession[json.RawMessage](client, "s", OpenAIChat)
	cases := map[string]*Kind{
		`[1]`: ErrMessageInvalid, `"text"`: ErrMessageInvalid, `{"a":}`: ErrMessageInvalid, ``: ErrMessageInvalid,
		"{\"a\":\"\xff\"}": ErrMessageInvalid, `{"a":"` + strings.Repeat("x", 1000) + `"}`: ErrMessageTooLarge,
	}
	for text, kind := range cases {
		var failure *Error
		_, err := session.Prune(context.Background(), raw(`{}`, text))
		if !errors.Is(err, kind) || !errors.As(err, &failure) || failure.Metadata["messageIndex"] != "1" {
			t.Errorf("%.20s: %v", text, err)
		}
	}
	values := NewSession[any](client, "v", OpenAIChat)
	if _, err := values.Prune(context.Background(), []any{map[string]any{}, func() {}}); !errors.Is(err, ErrMessageInvalid) {
		t.Errorf("a value that is no JSON: %v", err)
	}
	if _, err := NewSession[any](client, "\xff", OpenAIChat).Prune(context.Background(), nil); !errors.Is(err, ErrSessionIDInvalid) {
		t.Errorf("an id that is no UTF-8: %v", err)
	}
}

func TestValuesKeepTheirCharacters(t *testing.T) {
	fake := &fakeServer{}
	session := NewSession[map[string]string](connect(t, fake), "s", OpenAIChat)
	if _, err := session.Prune(context.Background(), []map[string]string{{"text": "<a> & 🙂"}}); err != nil || fake.list[0] != `{"text":"<a> & 🙂"}` {
		t.Error(fake.list, err)
	}
}

func TestAnEndedContextIsNotTriedAgain(t *testing.T) {
	fake := &fakeServer{lose: 100}
	session := NewSession[json.RawMessage](connect(t, fake), "s", OpenAIChat)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := session.Prune(ctx, raw(`{}`)); !errors.Is(err, context.Canceled) || !errors.Is(err, ErrCancelled) {
		t.Error(err)
	}
}

func TestSessionIDsBecomeMetadata(t *testing.T) {
	for id, want := range map[string]string{"build-42": "build-42", "a b%é\x01": "a%20b%25%C3%A9%01"} {
		if quoted(id) != want {
			t.Errorf("%q is sent as %s", id, quoted(id))
		}
	}
}

func TestOldCheckpointsGetRareAndDoNotGrow(t *testing.T) {
	history := &sentHistory{}
	for length := 1; length <= 1000; length++ {
		base := history.baseFor(length - 1)
		if base.length != length-1 {
			t.Fatalf("the base of %d is %d", length, base.length)
		}
		history = history.accepted(base, make([]digest, length), "e")
	}
	if len(history.checkpoints) > maxCheckpoints || history.baseFor(500).length == 0 || history.baseFor(999).length != 999 {
		t.Errorf("%d checkpoints", len(history.checkpoints))
	}
}

func TestCallsOfOneSessionMayOverlap(t *testing.T) {
	fake := &fakeServer{}
	session := NewSession[json.RawMessage](connect(t, fake), "s", OpenAIChat)
	list := raw(`{"n":0}`, `{"n":1}`, `{"n":2}`, `{"n":3}`)
	var calls sync.WaitGroup
	for number := range 40 {
		calls.Add(1)
		go func() {
			defer calls.Done()
			if _, err := session.Prune(context.Background(), list[:1+number%4]); err != nil {
				t.Error(err)
			}
		}()
	}
	calls.Wait()
	if _, err := session.Prune(context.Background(), list); err != nil || !reflect.DeepEqual(fake.list, texts(list)) {
		t.Error(fake.list, err)
	}
}

// A Go string can hold what no request can: each call says so itself, with the error of its kind.
func TestTextsThatAreNoUTF8AreRefusedBeforeAnythingIsSent(t *testing.T) {
	ctx, wrong := context.Background(), "t1 \xed\xa0\xbd"
	session := NewSession[[]byte](connect(t, &fakeServer{}), "s", OpenAIChat)
	asked := map[string]func() error{
		"ref":      func() error { _, err := session.Query(ctx, []string{wrong}); return err },
		"slice":    func() error { _, err := session.Query(ctx, []string{"t1"}, Lines(wrong, 1, 2)); return err },
		"pattern":  func() error { _, err := session.Query(ctx, []string{"t1"}, Matches("t1", wrong, 0)); return err },
		"original": func() error { _, err := session.Read(ctx, wrong); return err },
		"page token": func() error {
			_, err := session.Diagnostics(ctx, &condensev1.GetDiagnosticsRequest{PageToken: wrong})
			return err
		},
	}
	for name, ask := range asked {
		if err := ask(); !errors.Is(err, ErrRequestInvalid) {
			t.Error(name, err)
		}
	}
	nameless := NewSession[[]byte](session.client(), wrong, OpenAIChat)
	calls := map[string]func() error{
		"prune":       func() error { _, err := nameless.Prune(ctx, nil); return err },
		"flush":       func() error { _, err := nameless.Flush(ctx, nil); return err },
		"compact":     func() error { _, err := nameless.Compact(ctx); return err },
		"query":       func() error { _, err := nameless.Query(ctx, []string{"t1"}); return err },
		"read":        func() error { _, err := nameless.Read(ctx, "t1"); return err },
		"diagnostics": func() error { _, err := nameless.Diagnostics(ctx); return err },
		"delete":      func() error { _, err := nameless.Delete(ctx); return err },
	}
	for name, call := range calls {
		if err := call(); !errors.Is(err, ErrSessionIDInvalid) {
			t.Error(name, err)
		}
	}
}

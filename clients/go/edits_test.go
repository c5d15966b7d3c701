package condense

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"

	condensev1 "github.com/condense-grpc/condense-grpc/clients/go/gen/condense/v1"
)

func raw(texts ...string) []json.RawMessage {
	made := make([]json.RawMessage, len(texts))
	for index, text := range texts {
		made[index] = json.RawMessage(text)
	}
	return made
}

func texts(messages []json.RawMessage) []string {
	made := make([]string, len(messages))
	for index, message := range messages {
		made[index] = string(message)
	}
	return made
}

func drop(at int64) *condensev1.Edit {
	return &condensev1.Edit{MessageIndex: at, Change: &condensev1.Edit_Drop{Drop: &condensev1.Drop{}}}
}

func insert(at int64, text string) *condensev1.Edit {
	after := &condensev1.InsertAfter{Content: &condensev1.InsertAfter_NativeJson{NativeJson: []byte(text)}}
	return &condensev1.Edit{MessageIndex: at, Change: &condensev1.Edit_InsertAfter{InsertAfter: after}}
}

func move(at, behind int64) *condensev1.Edit {
	return &condensev1.Edit{MessageIndex: at, Change: &condensev1.Edit_MoveAfter{MoveAfter: &condensev1.MoveAfter{AfterIndex: behind}}}
}

func replace(at int64, text string) *condensev1.Edit {
	result := &condensev1.Edit_ReplaceResult{ReplaceResult: &condensev1.ReplaceResult{}}
	return &condensev1.Edit{MessageIndex: at, NativeJson: []byte(text), Change: result}
}

func within(edit *condensev1.Edit, part int32, text string) *condensev1.Edit {
	edit.PartIndex, edit.NativeJson = &part, []byte(text)
	return edit
}

func TestRawAndEditsAreTheView(t *testing.T) {
	cases := []struct {
		edits []*condensev1.Edit
		view  []string
	}{
		{nil, []string{"0", "1", "2"}},
		{[]*condensev1.Edit{drop(1)}, []string{"0", "2"}},
		{[]*condensev1.Edit{insert(-1, "a"), insert(-1, "b"), insert(2, "c")}, []string{"a", "b", "0", "1", "2", "c"}},
		{[]*condensev1.Edit{drop(1), insert(1, "a")}, []string{"0", "a", "2"}},
		{[]*condensev1.Edit{insert(0, "a"), move(2, 0), insert(0, "b")}, []string{"0", "a", "2", "b", "1"}},
		{[]*condensev1.Edit{move(2, -1), replace(2, "two")}, []string{"two", "0", "1"}},
		{[]*condensev1.Edit{replace(1, "one"), replace(1, "uno")}, []string{"0", "uno", "2"}},
		{[]*condensev1.Edit{within(drop(1), 0, "rest"), within(insert(1, "x"), 3, "rest and x")}, []string{"0", "rest and x", "2"}},
		{[]*condensev1.Edit{within(&condensev1.Edit{MessageIndex: 1}, 0, "newer")}, []string{"0", "newer", "2"}},
	}
	for number, one := range cases {
		list := raw("0", "1", "2")
		view, err := applyEdits(list, one.edits)
		if err != nil || !reflect.DeepEqual(texts(view), one.view) {
			t.Errorf("case %d: %v instead of %v (%v)", number, texts(view), one.view, err)
		}
		if !reflect.DeepEqual(texts(list), []string{"0", "1", "2"}) {
			t.Errorf("case %d has changed the caller's list: %v", number, texts(list))
		}
	}
}

func TestEditsThatAreNotKnownAreNotGuessed(t *testing.T) {
	for _, edit := range []*condensev1.Edit{{MessageIndex: 0}, drop(3), insert(3, "a"), move(0, 3), move(-2, 0), insert(-2, "a"), replace(-1, "a")} {
		if _, err := applyEdits(raw("0", "1", "2"), []*condensev1.Edit{edit}); !errors.Is(err, errNotUnderstood) {
			t.Errorf("%v: %v", edit, err)
		}
	}
	if view, err := applyEdits(raw(), []*condensev1.Edit{insert(-1, "a")}); err != nil || len(view) != 1 {
		t.Errorf("an insert into nothing: %v, %v", view, err)
	}
}

func TestUntouchedElementsOfAnyTypeAreTheCallersOwn(t *testing.T) {
	list := []map[string]any{{"role": "user"}, {"role": "tool", "content": "long"}}
	view, err := applyEdits(list, []*condensev1.Edit{replace(1, `{"role": "tool", "content": "short"}`)})
	if err != nil || fmt.Sprintf("%p", view[0]) != fmt.Sprintf("%p", list[0]) || view[1]["content"] != "short" || list[1]["content"] != "long" {
		t.Errorf("%v, %v", view, err)
	}
	type message struct{ Role, Content string }
	pointers := []*message{{"tool", "long"}}
	changed, err := applyEdits(pointers, []*condensev1.Edit{replace(0, `{"Role": "tool", "Content": "short"}`)})
	if err != nil || changed[0].Content != "short" || pointers[0].Content != "long" {
		t.Errorf("the value behind a pointer was changed: %v, %v", pointers[0], err)
	}
	if _, err := applyEdits(pointers, []*condensev1.Edit{replace(0, `[1]`)}); err == nil {
		t.Error("an element that does not fit the type is no error")
	}
}

func TestTheFullViewHoldsTheCallersOwnElements(t *testing.T) {
	list := raw(`{"a": 1.0}`, `{"a":2}`, `{"a":2}`)
	view, err := readFullView(list, [][]byte{list[0], list[1], list[2]}, []byte(`[{"b":3},{"a":2},{"a": 1.0},{"a":2},{"a":2}]`))
	if err != nil || !reflect.DeepEqual(texts(view), []string{`{"b":3}`, `{"a":2}`, `{"a": 1.0}`, `{"a":2}`, `{"a":2}`}) {
		t.Fatal(texts(view), err)
	}
	if &view[1][0] != &list[1][0] || &view[2][0] != &list[0][0] || &view[3][0] != &list[2][0] || &view[4][0] == &list[2][0] {
		t.Error("own elements are copies")
	}
}

// Bytes are JSON as they are, also where the service has written them.
func TestElementsThatAreBytesAreReadAsTheyAreWritten(t *testing.T) {
	edits := []*condensev1.Edit{
		{MessageIndex: 0, NativeJson: []byte(`{"n": 1.0}`), Change: &condensev1.Edit_StripThinking{StripThinking: &condensev1.StripThinking{}}},
	}
	view, err := applyEdits([][]byte{[]byte(`{"n":0}`)}, edits)
	if err != nil || !bytes.Equal(view[0], []byte(`{"n": 1.0}`)) {
		t.Fatal(string(view[0]), err)
	}
}

package condense

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	condensev1 "github.com/condense-grpc/condense-grpc/clients/go/gen/condense/v1"
)

// errNotUnderstood is an edit of a kind that this client does not know, or at a place that the list does not have.
var errNotUnderstood = errors.New("an edit of a newer kind")

// applyEdits is the view. Everything that happens within an element is in the JSON that an edit brings; what is left
// is to drop, to insert and to move elements. The list is not changed.
func applyEdits[T any](list []T, edits []*condensev1.Edit) ([]T, error) {
	elements := append([]T(nil), list...)
	absent := make(map[int]bool)
	behind := make(map[int][]placed[T])
	for _, edit := range edits {
		at := int(edit.GetMessageIndex())
		anchor := 0
		switch change := edit.GetChange().(type) {
		case *condensev1.Edit_InsertAfter:
			anchor = at
		case *condensev1.Edit_MoveAfter:
			anchor = int(change.MoveAfter.GetAfterIndex())
		}
		if anchor < -1 || anchor >= max(len(list), 1) || at < -1 || at >= len(list) {
			return nil, fmt.Errorf("%w: at position %d of %d", errNotUnderstood, at, len(list))
		}
		isPart := edit.PartIndex != nil
		if edit.GetChange() == nil && (!isPart || len(edit.GetNativeJson()) == 0) {
			return nil, errNotUnderstood
		}
		if len(edit.GetNativeJson()) > 0 {
			if at < 0 {
				return nil, errNotUnderstood
			}
			if err := read(edit.GetNativeJson(), &elements[at]); err != nil {
				return nil, err
			}
		}
		if isPart {
			continue
		}
		switch change := edit.GetChange().(type) {
		case *condensev1.Edit_Drop:
			absent[at] = true
		case *condensev1.Edit_InsertAfter:
			added := placed[T]{index: -1}
			if err := read(change.InsertAfter.GetNativeJson(), &added.own); err != nil {
				return nil, err
			}
			behind[at] = append(behind[at], added)
		case *condensev1.Edit_MoveAfter:
			absent[at] = true
			behind[anchor] = append(behind[anchor], placed[T]{index: at})
		}
	}
	return arranged(elements, absent, behind), nil
}

// A placed element stands behind another one: an element of the list, or (index -1) one of its own.
type placed[T any] struct {
	index int
	own   T
}

func arranged[T any](elements []T, absent map[int]bool, behind map[int][]placed[T]) []T {
	view := make([]T, 0, len(elements))
	for index := -1; index < len(elements); index++ {
		if index >= 0 && !absent[index] {
			view = append(view, elements[index])
		}
		for _, next := range behind[index] {
			if next.index < 0 {
				view = append(view, next.own)
			} else {
				view = append(view, elements[next.index])
			}
		}
	}
	return view
}

// readFullView is the view that a server has written out. Elements that the caller has sent are the caller's own.
func readFullView[T any](list []T, texts [][]byte, shown []byte) ([]T, error) {
	var raw []json.RawMessage
	if len(shown) > 0 {
		if err := json.Unmarshal(shown, &raw); err != nil {
			return nil, fmt.Errorf("condense: the view is no JSON array: %w", err)
		}
	}
	own := make(map[string][]int)
	for index, text := range texts {
		own[string(bytes.TrimSpace(text))] = append(own[string(bytes.TrimSpace(text))], index)
	}
	view := make([]T, len(raw))
	for index, text := range raw {
		if same := own[string(text)]; len(same) > 0 {
			view[index], own[string(text)] = list[same[0]], same[1:]
		} else if err := read(text, &view[index]); err != nil {
			return nil, err
		}
	}
	return view, nil
}

// read makes an element of JSON. A new value takes its place: the caller's own is never written to.
func read[T any](text []byte, target *T) error {
	switch raw := any(target).(type) {
	case *json.RawMessage:
		*raw = bytes.Clone(text)
		return nil
	case *[]byte:
		*raw = bytes.Clone(text)
		return nil
	}
	var made T
	if err := json.Unmarshal(text, &made); err != nil {
		return fmt.Errorf("condense: an edited element does not fit the type of the list: %w", err)
	}
	*target = made
	return nil
}

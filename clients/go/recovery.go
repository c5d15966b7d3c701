package condense

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	condensev1 "github.com/condense-grpc/condense-grpc/clients/go/gen/condense/v1"
)

// RecoveryToolName is the name of the tool by which a model gets originals back.
const RecoveryToolName = "context_tree_query"

// A Provider is an API that takes definitions of tools.
type Provider string

// The providers. For Gemini the definition is a member of functionDeclarations.
const (
	ProviderOpenAI          Provider = "openai"
	ProviderOpenAIResponses Provider = "openai-responses"
	ProviderAnthropic       Provider = "anthropic"
	ProviderGemini          Provider = "gemini"
)

const (
	recoveryDescription = "Returns the original, complete output of earlier tool calls that now appear only as a summary or a stub. " +
		"Pass the refs exactly as the stub or summary shows them, for example t12. For a long output ask for a part by " +
		"lines, chars or a pattern."
	recoveryParameters = `{"type": "object", "properties": {"toolCallIds": {"type": "array", "items": {"type": "string"}, ` +
		`"description": "Refs of tool calls, such as t12, or tool call ids."}, "slices": {"type": "array", "description": ` +
		`"Optional: parts instead of whole outputs. Each names a ref of toolCallIds.", "items": {"type": "object", "properties": ` +
		`{"ref": {"type": "string", "description": "A member of toolCallIds."}, "lines": {"type": "array", "items": {"type": ` +
		`"integer"}, "description": "First and last line, from 1, for example [2001, 2400]."}, "chars": {"type": "array", "items": ` +
		`{"type": "integer"}, "description": "First and last character, from 1."}, "pattern": {"type": "string", "description": ` +
		`"Only the lines that contain this text."}, "regex": {"type": "boolean", "description": "Read pattern as an RE2 ` +
		`expression."}, "contextLines": {"type": "integer", "description": "Lines around each match."}}, "required": ["ref"]}}}, ` +
		`"required": ["toolCallIds"]}`
	wanted = `Call it again with {"toolCallIds": ["t12"]}, the refs as the stub or summary shows them.`
)

// RecoveryTool is the definition of the tool as a member of the provider's list of tools, always the same bytes.
// Register it from the first request on: a list of tools that changes breaks the provider's cache.
func RecoveryTool(provider Provider) json.RawMessage {
	head := fmt.Sprintf(`"name": %q, "description": %q, `, RecoveryToolName, recoveryDescription)
	switch provider {
	case ProviderOpenAI:
		return json.RawMessage(`{"type": "function", "function": {` + head + `"parameters": ` + recoveryParameters + `}}`)
	case ProviderOpenAIResponses:
		return json.RawMessage(`{"type": "function", ` + head + `"parameters": ` + recoveryParameters + `, "strict": false}`)
	case ProviderAnthropic:
		return json.RawMessage(`{` + head + `"input_schema": ` + recoveryParameters + `}`)
	default:
		return json.RawMessage(`{` + head + `"parameters": ` + recoveryParameters + `}`)
	}
}

// What a model wants to read.
type toolQuery struct {
	refs   []string
	slices []*condensev1.Slice
}

// Arguments that name nothing to read. The text is the answer for the model.
type argumentsUnclear string

func (unclear argumentsUnclear) Error() string { return string(unclear) + " " + wanted }

const sliceUnclear = `A member of slices is not clear. Use {"ref": "t12", "lines": [1, 200]}, {"ref": "t12", "chars": [1, 5000]} or {"ref": "t12", "pattern": "x"}.`

// readArguments is the query in the arguments of a tool call. Models write arguments in many ways: whatever is clear
// is taken, and the rest is answered with a sentence that says what is wanted.
func readArguments(text string) (*toolQuery, error) {
	parsed, err := parse(text)
	if err != nil {
		return nil, argumentsUnclear("The arguments of " + RecoveryToolName + " are not valid JSON.")
	}
	members, isObject := parsed.(map[string]any)
	if !isObject {
		return nil, argumentsUnclear("The arguments of " + RecoveryToolName + " are not an object.")
	}
	query := &toolQuery{}
	parts, err := listOf(members["slices"], "slices")
	for _, part := range parts {
		if err == nil {
			var slice *condensev1.Slice
			slice, err = readSlice(part)
			query.slices = append(query.slices, slice)
		}
	}
	if err != nil {
		return nil, err
	}
	names, err := listOf(members["toolCallIds"], "toolCallIds")
	for _, name := range names {
		if err == nil {
			var ref string
			ref, err = readRef(name)
			query.refs = append(query.refs, ref)
		}
	}
	if err != nil {
		return nil, err
	}
	if len(query.refs) == 0 {
		seen := make(map[string]bool)
		for _, slice := range query.slices {
			if !seen[slice.GetRef()] {
				seen[slice.GetRef()] = true
				query.refs = append(query.refs, slice.GetRef())
			}
		}
	}
	if len(query.refs) == 0 {
		return nil, argumentsUnclear(RecoveryToolName + " was called without refs.")
	}
	return query, nil
}

// Half of a character, which a Go string cannot hold: encoding/json would replace it without a word.
const halfCharacter = "\uFDD0"

func parse(text string) (value any, err error) {
	decoder := json.NewDecoder(strings.NewReader(markHalfCharacters(text)))
	decoder.UseNumber()
	if err = decoder.Decode(&value); err == nil && decoder.More() {
		err = fmt.Errorf("there is something behind the value")
	}
	return value, err
}

// markHalfCharacters puts halfCharacter in the place of escapes of lone surrogates.
func markHalfCharacters(text string) string {
	if !strings.Contains(text, `\u`) {
		return text
	}
	var marked strings.Builder
	for at := 0; at < len(text); {
		if text[at] != '\\' || at+1 >= len(text) {
			marked.WriteByte(text[at])
			at++
			continue
		}
		size := 2
		if code, isEscape := surrogate(text[at:]); isEscape {
			size = 6
			low, isPair := surrogate(text[at+size:])
			if code < 0xDC00 && isPair && low >= 0xDC00 {
				size = 12
			} else {
				marked.WriteString(halfCharacter)
				at += size
				continue
			}
		}
		marked.WriteString(text[at : at+size])
		at += size
	}
	return marked.String()
}

func surrogate(text string) (uint64, bool) {
	if len(text) < 6 || text[:2] != `\u` {
		return 0, false
	}
	code, err := strconv.ParseUint(text[2:6], 16, 16)
	return code, err == nil && code >= 0xD800 && code <= 0xDFFF
}

// listOf is a list; a single member and a list written as text are taken for one.
func listOf(value any, name string) ([]any, error) {
	if text, isText := value.(string); isText && strings.IndexAny(strings.TrimLeft(text, " \t\r\n"), "[{") == 0 {
		parsed, err := parse(text)
		if err != nil {
			return nil, argumentsUnclear(name + " is not valid JSON.")
		}
		value = parsed
	}
	switch value := value.(type) {
	case nil:
		return nil, nil
	case []any:
		return value, nil
	default:
		return []any{value}, nil
	}
}

func readRef(value any) (string, error) {
	text, isText := value.(string)
	if !isText {
		return "", argumentsUnclear("A member of toolCallIds is not a text.")
	}
	if strings.Contains(text, halfCharacter) {
		return "", argumentsUnclear("A member of toolCallIds holds half of a character.")
	}
	return text, nil
}

func readSlice(value any) (*condensev1.Slice, error) {
	members, isObject := value.(map[string]any)
	if !isObject || members["ref"] == nil {
		return nil, sliceNotClear{}
	}
	ref, err := readRef(members["ref"])
	if err != nil {
		return nil, err
	}
	if members["lines"] != nil || members["chars"] != nil {
		make, ends := Chars, members["chars"]
		if members["lines"] != nil {
			make, ends = Lines, members["lines"]
		}
		first, last, isRange := readRange(ends)
		if !isRange {
			return nil, sliceNotClear{}
		}
		return make(ref, first, last), nil
	}
	if members["pattern"] == nil {
		return &condensev1.Slice{Ref: ref}, nil
	}
	pattern, isText := members["pattern"].(string)
	around, isNumber := int64(0), true
	if members["contextLines"] != nil && members["contextLines"] != false && members["contextLines"] != "" {
		around, isNumber = readNumber(members["contextLines"])
	}
	if !isText || !isNumber || strings.Contains(pattern, halfCharacter) || around != int64(int32(around)) {
		return nil, sliceNotClear{}
	}
	if members["regex"] == true {
		return MatchesRegexp(ref, pattern, int32(around)), nil
	}
	return Matches(ref, pattern, int32(around)), nil
}

type sliceNotClear struct{}

func (sliceNotClear) Error() string { return sliceUnclear }

// readRange is first and last: a list of one or two numbers, a text such as 10-40, or one number.
func readRange(value any) (first, last int64, isRange bool) {
	var ends []any
	switch value := value.(type) {
	case string:
		for _, end := range strings.Fields(strings.ReplaceAll(value, "-", " ")) {
			ends = append(ends, end)
		}
	case []any:
		ends = value
	default:
		ends = []any{value, value}
	}
	if len(ends) < 1 || len(ends) > 2 {
		return 0, 0, false
	}
	last = ToEnd
	first, isRange = readNumber(ends[0])
	if isRange && len(ends) == 2 && ends[1] != nil {
		last, isRange = readNumber(ends[1])
		last = max(last, 0)
	}
	return first, last, isRange
}

func readNumber(value any) (int64, bool) {
	switch value := value.(type) {
	case json.Number:
		if whole, err := value.Int64(); err == nil {
			return whole, true
		}
		real, err := value.Float64()
		return int64(real), err == nil && real > -1e15 && real < 1e15
	case string:
		whole, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		return whole, err == nil
	default:
		return 0, false
	}
}

package condense

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestTheDefinitionIsJSONAndAlwaysTheSame(t *testing.T) {
	for _, provider := range []Provider{ProviderOpenAI, ProviderOpenAIResponses, ProviderAnthropic, ProviderGemini} {
		definition := RecoveryTool(provider)
		if !json.Valid(definition) || string(definition) != string(RecoveryTool(provider)) || !strings.Contains(string(definition), RecoveryToolName) {
			t.Errorf("%s: %s", provider, definition)
		}
	}
}

func TestWhateverIsClearIsTaken(t *testing.T) {
	cases := map[string]struct {
		refs   []string
		slices []string
	}{
		`{"toolCallIds": ["t1", "a@5"]}`:                                        {refs: []string{"t1", "a@5"}},
		`{"toolCallIds": "t1"}`:                                                 {refs: []string{"t1"}},
		`{"toolCallIds": "[\"t1\", \"t2\"]"}`:                                   {refs: []string{"t1", "t2"}},
		`{"slices": [{"ref": "t1"}, {"ref": "t2"}, {"ref": "t1"}]}`:             {[]string{"t1", "t2"}, []string{"t1", "t2", "t1"}},
		`{"slices": {"ref": "t1", "lines": [3, 5]}}`:                            {[]string{"t1"}, []string{"t1 lines 3+3"}},
		`{"slices": [{"ref": "t1", "lines": "3-5"}]}`:                           {[]string{"t1"}, []string{"t1 lines 3+3"}},
		`{"slices": [{"ref": "t1", "lines": 3}]}`:                               {[]string{"t1"}, []string{"t1 lines 3+1"}},
		`{"slices": [{"ref": "t1", "lines": [3, null]}]}`:                       {[]string{"t1"}, []string{"t1 lines 3+"}},
		`{"slices": [{"ref": "t1", "lines": [3.0, "4"]}]}`:                      {[]string{"t1"}, []string{"t1 lines 3+2"}},
		`{"slices": [{"ref": "t1", "lines": null, "chars": [2, 9]}]}`:           {[]string{"t1"}, []string{"t1 chars 2-9"}},
		`{"slices": [{"ref": "t1", "chars": [2]}]}`:                             {[]string{"t1"}, []string{"t1 chars 2-"}},
		`{"slices": [{"ref": "t1", "pattern": "a.b", "contextLines": 2}]}`:      {[]string{"t1"}, []string{"t1 text a.b 2"}},
		`{"slices": [{"ref": "t1", "pattern": "a", "regex": true}], "more": 1}`: {[]string{"t1"}, []string{"t1 regex a 0"}},
		`{"toolCallIds": ["\ud83d\ude42"]}`:                                     {refs: []string{"🙂"}},
	}
	for text, want := range cases {
		query, err := readArguments(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var slices []string
		for _, slice := range query.slices {
			slices = append(slices, shown(slice))
		}
		if !reflect.DeepEqual(query.refs, want.refs) || !reflect.DeepEqual(slices, want.slices) {
			t.Errorf("%s is read as %v %v", text, query.refs, slices)
		}
	}
}

func TestTheRestIsAnsweredWithWhatIsWanted(t *testing.T) {
	cases := map[string]string{
		``:                               "not valid JSON",
		`{"toolCallIds": ["t1"]`:         "not valid JSON",
		`{} {}`:                          "not valid JSON",
		`["t1"]`:                         "not an object",
		`null`:                           "not an object",
		`{"toolCallIds": []}`:            "without refs",
		`{"toolCallIds": [1]}`:           "not a text",
		`{"toolCallIds": "[1"}`:          "toolCallIds is not valid JSON",
		`{"toolCallIds": ["a\ud83d"]}`:   "half of a character",
		`{"toolCallIds": ["\\\udc00x"]}`: "half of a character",
		`{"slices": [1]}`:                "slices is not clear",
		`{"slices": [{"lines": [1]}]}`:   "slices is not clear",
		`{"slices": [{"ref": "t1", "lines": ["a"]}]}`:                         "slices is not clear",
		`{"slices": [{"ref": "t1", "lines": []}]}`:                            "slices is not clear",
		`{"slices": [{"ref": "t1", "lines": [1, 2, 3]}]}`:                     "slices is not clear",
		`{"slices": [{"ref": "t1", "chars": {}}]}`:                            "slices is not clear",
		`{"slices": [{"ref": "t1", "pattern": 5}]}`:                           "slices is not clear",
		`{"slices": [{"ref": "t1", "pattern": "a", "contextLines": "many"}]}`: "slices is not clear",
	}
	for text, want := range cases {
		if _, err := readArguments(text); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `"t12"`) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func FuzzArguments(f *testing.F) {
	f.Add(`{"toolCallIds": ["t1"], "slices": [{"ref": "t1", "lines": "3-5", "pattern": "\ud83d"}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		query, err := readArguments(text)
		if (query == nil) == (err == nil) || (query != nil && len(query.refs) == 0) {
			t.Errorf("%q: %v %v", text, query, err)
		}
	})
}

package condense

import condensev1 "github.com/condense-grpc/condense-grpc/clients/go/gen/condense/v1"

// ToEnd is the end of a slice that goes to the end.
const ToEnd = -1

// Lines are the lines from first to last of what ref names. They count from 1, and both ends belong to the slice.
func Lines(ref string, first, last int64) *condensev1.Slice {
	lines := &condensev1.LineRange{StartLine: first}
	if last != ToEnd {
		count := max(0, last-max(first, 1)+1)
		lines.LineCount = &count
	}
	return &condensev1.Slice{Ref: ref, Selection: &condensev1.Slice_Lines{Lines: lines}}
}

// Chars are the characters from first to last, counted as Lines are.
func Chars(ref string, first, last int64) *condensev1.Slice {
	chars := &condensev1.CharRange{StartChar: first}
	if last != ToEnd {
		chars.EndChar = &last
	}
	return &condensev1.Slice{Ref: ref, Selection: &condensev1.Slice_Chars{Chars: chars}}
}

// Matches are the lines that hold a text, with so many lines around each.
func Matches(ref, text string, contextLines int32) *condensev1.Slice {
	return matches(ref, &condensev1.PatternMatch{Pattern: text, ContextLines: contextLines})
}

// MatchesRegexp are the lines that match an RE2 expression, with so many lines around each.
func MatchesRegexp(ref, expression string, contextLines int32) *condensev1.Slice {
	return matches(ref, &condensev1.PatternMatch{Pattern: expression, Regex: true, ContextLines: contextLines})
}

func matches(ref string, pattern *condensev1.PatternMatch) *condensev1.Slice {
	return &condensev1.Slice{Ref: ref, Selection: &condensev1.Slice_Pattern{Pattern: pattern}}
}

package condense

import condensev1 "github.com/condense-grpc/condense-grpc/clients/go/gen/condense/v1"

// A View is what to send to the model instead of the raw history, and what the server says about it. Do not send a
// view to the service: it wants the raw history.
type View[T any] struct {
	// Messages are the caller's own values where there is no edit.
	Messages []T
	// Edits lead from the raw history to Messages; they count its elements.
	Edits []*condensev1.Edit
	// Pruned: the view differs from the raw history. Unchanged: the edits are those of the view before.
	Pruned, Unchanged bool
	// Revision identifies the edits.
	Revision string
	// Reclaim is what the view saves; Cache what it means for the provider's prompt cache; Applied how many changes
	// of each kind there are; Advice whether it is a good moment to flush.
	Reclaim *condensev1.Reclaim
	Cache   *condensev1.CacheReport
	Applied *condensev1.AppliedCounts
	Advice  *condensev1.FlushAdvice
	// Violations are what the server found wrong with the new messages.
	Violations []*condensev1.Violation
	// StatusLine is for people; "" if it is switched off.
	StatusLine string
}

func viewOf[T any](messages []T, edits []*condensev1.Edit, response *condensev1.PruneMessagesResponse) *View[T] {
	return &View[T]{
		Messages:   messages,
		Edits:      edits,
		Pruned:     response.GetPruned(),
		Unchanged:  response.GetUnchanged(),
		Revision:   response.GetRevision(),
		Reclaim:    told(response.GetReclaim()),
		Cache:      told(response.GetCache()),
		Applied:    told(response.GetApplied()),
		Advice:     told(response.GetAdvice()),
		Violations: response.GetViolations(),
		StatusLine: response.GetStatusLine(),
	}
}

// told is never nil, so that fields can be read without asking: what the server leaves out is empty.
func told[M any](message *M) *M {
	if message == nil {
		return new(M)
	}
	return message
}

// An Answer holds originals that were read back.
type Answer struct {
	// Text is ready to be handed to the model.
	Text string
	// Results has one member per ref.
	Results []*condensev1.QueryResult
}

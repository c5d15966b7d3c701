package condense

import (
	"context"
	"errors"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const domain = "condense.v1"

// A Kind is a sort of errors. Compare with errors.Is:
//
//	if errors.Is(err, condense.ErrSessionNotFound) { … }
//
// An error is also of the kinds above its own: every ErrStoreUnavailable is an ErrUnavailable.
type Kind struct {
	name   string
	reason string
	parent *Kind
}

// Error is the name of the kind.
func (kind *Kind) Error() string { return "condense: " + kind.name }

// The kinds of errors: one per reason of the contract, and those that come without a reason.
var (
	// ErrRequestInvalid: something of the request cannot be used; nothing of it was applied.
	ErrRequestInvalid    = &Kind{"request invalid", "REQUEST_INVALID", nil}
	ErrSessionIDInvalid  = &Kind{"session id invalid", "SESSION_ID_INVALID", ErrRequestInvalid}
	ErrMessageInvalid    = &Kind{"message invalid", "MESSAGE_INVALID", ErrRequestInvalid}
	ErrMessageTooLarge   = &Kind{"message too large", "MESSAGE_TOO_LARGE", ErrRequestInvalid}
	ErrDeltaTooLarge     = &Kind{"delta too large", "DELTA_TOO_LARGE", ErrRequestInvalid}
	ErrNativeJSONInvalid = &Kind{"native JSON invalid", "NATIVE_JSON_INVALID", ErrRequestInvalid}
	ErrConfigInvalid     = &Kind{"config invalid", "CONFIG_INVALID", ErrRequestInvalid}
	ErrPageTokenInvalid  = &Kind{"page token invalid", "PAGE_TOKEN_INVALID", ErrRequestInvalid}
	ErrPatternInvalid    = &Kind{"pattern invalid", "PATTERN_INVALID", ErrRequestInvalid}
	ErrSummarizerUnknown = &Kind{"summarizer unknown", "SUMMARIZER_UNKNOWN", ErrRequestInvalid}

	ErrSessionNotFound      = &Kind{"session not found", "SESSION_NOT_FOUND", nil}
	ErrSessionAlreadyExists = &Kind{"session already exists", "SESSION_ALREADY_EXISTS", nil}
	// ErrTranscriptMismatch: client and server disagree about the history. Sessions heal it by themselves.
	ErrTranscriptMismatch = &Kind{"transcript mismatch", "TRANSCRIPT_MISMATCH", nil}
	// ErrFlushInProgress: a flush or a compaction is running; follow it with Attach, or wait for its end.
	ErrFlushInProgress  = &Kind{"flush in progress", "FLUSH_IN_PROGRESS", nil}
	ErrRevisionConflict = &Kind{"revision conflict", "REVISION_CONFLICT", nil}
	ErrQuotaExceeded    = &Kind{"quota exceeded", "QUOTA_EXCEEDED", nil}
	ErrUnauthenticated  = &Kind{"unauthenticated", "UNAUTHENTICATED", nil}
	ErrPermissionDenied = &Kind{"permission denied", "PERMISSION_DENIED", nil}
	// ErrNotImplemented: this server does not have what was asked for.
	ErrNotImplemented = &Kind{"not implemented", "NOT_IMPLEMENTED", nil}
	// ErrInternal: a defect of the server; the metadata incidentId names it in the server's log.
	ErrInternal = &Kind{"internal", "INTERNAL", nil}

	// ErrUnavailable: no answer came. Whether the call took effect is not known; repeating it is safe.
	ErrUnavailable      = &Kind{"unavailable", "", nil}
	ErrStoreUnavailable = &Kind{"store unavailable", "STORE_UNAVAILABLE", ErrUnavailable}
	ErrShuttingDown     = &Kind{"shutting down", "SHUTTING_DOWN", ErrUnavailable}
	// ErrDeadlineExceeded and ErrCancelled are also context.DeadlineExceeded and context.Canceled.
	ErrDeadlineExceeded = &Kind{"deadline exceeded", "", nil}
	ErrCancelled        = &Kind{"cancelled", "", nil}
	// ErrResultNotFound: a ref names no result of the session, or several.
	ErrResultNotFound = &Kind{"result not found", "", nil}
	// ErrOther: everything else, a reason that this client does not know included.
	ErrOther = &Kind{"error", "", nil}
)

var kinds = []*Kind{
	ErrRequestInvalid, ErrSessionIDInvalid, ErrMessageInvalid, ErrMessageTooLarge, ErrDeltaTooLarge,
	ErrNativeJSONInvalid, ErrConfigInvalid, ErrPageTokenInvalid, ErrPatternInvalid, ErrSummarizerUnknown,
	ErrSessionNotFound, ErrSessionAlreadyExists, ErrTranscriptMismatch, ErrFlushInProgress, ErrRevisionConflict,
	ErrQuotaExceeded, ErrUnauthenticated, ErrPermissionDenied, ErrNotImplemented, ErrInternal, ErrStoreUnavailable,
	ErrShuttingDown,
}

var kindByReason = func() map[string]*Kind {
	byReason := make(map[string]*Kind, len(kinds))
	for _, kind := range kinds {
		byReason[kind.reason] = kind
	}
	return byReason
}()

// What a status means that came without details: from a proxy, or from the transport itself.
var kindByCode = map[codes.Code]*Kind{
	codes.Unavailable:      ErrUnavailable,
	codes.DeadlineExceeded: ErrDeadlineExceeded,
	codes.Canceled:         ErrCancelled,
	codes.Unauthenticated:  ErrUnauthenticated,
	codes.PermissionDenied: ErrPermissionDenied,
	codes.Unimplemented:    ErrNotImplemented,
}

// Error is a call that has failed, or was refused before anything was sent.
type Error struct {
	// Kind is what errors.Is compares.
	Kind *Kind
	// Reason is the contract's, "" for errors without details.
	Reason string
	// Message is the server's sentence.
	Message string
	// Metadata are facts for programs.
	Metadata map[string]string
	// Violations are the fields of the request that cannot be used.
	Violations []FieldViolation

	retryAfter *time.Duration
	cause      error
}

// A FieldViolation is a field of the request, by its path in the contract, and what is wrong with it.
type FieldViolation struct{ Field, Description string }

// Error is the sentence with its kind.
func (e *Error) Error() string { return e.Kind.Error() + ": " + e.Message }

// Unwrap is the error of the transport, nil if nothing was sent.
func (e *Error) Unwrap() error { return e.cause }

// Is tells whether the error is of a kind.
func (e *Error) Is(target error) bool {
	for kind := e.Kind; kind != nil; kind = kind.parent {
		if target == kind {
			return true
		}
	}
	return (e.Kind == ErrDeadlineExceeded && target == context.DeadlineExceeded) ||
		(e.Kind == ErrCancelled && target == context.Canceled)
}

// RetryAfter is how long the server wants a caller to wait; false: it does not say.
func (e *Error) RetryAfter() (time.Duration, bool) {
	if e.retryAfter == nil {
		return 0, false
	}
	return *e.retryAfter, true
}

func refused(kind *Kind, message string, metadata map[string]string) *Error {
	return &Error{Kind: kind, Reason: kind.reason, Message: message, Metadata: metadata}
}

// errorOf makes the error of a failed call. Kinds are chosen by the reason, without one by the code, never by text.
func errorOf(err error) *Error {
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	failure := status.Convert(err)
	made := &Error{Kind: kindByCode[failure.Code()], Message: failure.Message(), cause: err}
	if errors.Is(err, context.Canceled) {
		made.Kind = ErrCancelled
	} else if errors.Is(err, context.DeadlineExceeded) {
		made.Kind = ErrDeadlineExceeded
	}
	for _, detail := range failure.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			if detail.GetDomain() == domain && made.Reason == "" {
				made.Reason, made.Metadata, made.Kind = detail.GetReason(), detail.GetMetadata(), kindByReason[detail.GetReason()]
			}
		case *errdetails.RetryInfo:
			if detail.GetRetryDelay() != nil && made.retryAfter == nil {
				delay := max(0, detail.GetRetryDelay().AsDuration())
				made.retryAfter = &delay
			}
		case *errdetails.BadRequest:
			for _, violation := range detail.GetFieldViolations() {
				made.Violations = append(made.Violations, FieldViolation{violation.GetField(), violation.GetDescription()})
			}
		}
	}
	if made.Kind == nil {
		made.Kind = ErrOther
	}
	return made
}

package condense

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	condensev1 "github.com/condense-grpc/condense-grpc/clients/go/gen/condense/v1"
)

func failure(code codes.Code, info *errdetails.ErrorInfo, retry time.Duration) error {
	made, err := status.New(code, "a sentence").WithDetails(info)
	if retry != 0 && err == nil {
		made, err = made.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(retry)})
	}
	if err != nil {
		panic(err)
	}
	return made.Err()
}

func TestEveryReasonOfTheContractHasItsKind(t *testing.T) {
	for number, name := range condensev1.ErrorReason_name {
		reason := name[len("ERROR_REASON_"):]
		if number == 0 {
			continue
		}
		made := errorOf(failure(codes.Unknown, &errdetails.ErrorInfo{Domain: domain, Reason: reason}, 0))
		if made.Kind == ErrOther || made.Kind.reason != reason || !errors.Is(made, kindByReason[reason]) {
			t.Errorf("%s is %v", reason, made.Kind)
		}
	}
	if len(kindByReason) != len(condensev1.ErrorReason_name)-1 {
		t.Errorf("%d kinds for %d reasons", len(kindByReason), len(condensev1.ErrorReason_name)-1)
	}
}

func TestKindsAreChosenByReasonThenByCodeNeverByText(t *testing.T) {
	info := &errdetails.ErrorInfo{Domain: domain, Reason: "STORE_UNAVAILABLE", Metadata: map[string]string{"store": "x"}}
	made := errorOf(failure(codes.Unavailable, info, 2*time.Second))
	if !errors.Is(made, ErrStoreUnavailable) || !errors.Is(made, ErrUnavailable) || errors.Is(made, ErrShuttingDown) {
		t.Errorf("kinds of %v", made)
	}
	if delay, isTold := made.RetryAfter(); delay != 2*time.Second || !isTold || made.Metadata["store"] != "x" {
		t.Errorf("details of %+v", made)
	}
	if status.Code(made.Unwrap()) != codes.Unavailable {
		t.Error("the transport's error is not its cause")
	}

	newer := errorOf(failure(codes.Unavailable, &errdetails.ErrorInfo{Domain: domain, Reason: "OUT_OF_CHEESE"}, 0))
	if newer.Kind != ErrOther || newer.Reason != "OUT_OF_CHEESE" {
		t.Errorf("a reason of a newer server is %v", newer)
	}
	foreign := errorOf(failure(codes.Unavailable, &errdetails.ErrorInfo{Domain: "proxy", Reason: "STORE_UNAVAILABLE"}, 0))
	if foreign.Kind != ErrUnavailable || foreign.Reason != "" {
		t.Errorf("a proxy's error is %v", foreign)
	}
	if bare := errorOf(status.Error(codes.NotFound, "SESSION_NOT_FOUND")); bare.Kind != ErrOther {
		t.Errorf("a text was read: %v", bare)
	}
}

func TestContextsKeepTheirErrors(t *testing.T) {
	for cause, kind := range map[error]*Kind{
		context.Canceled: ErrCancelled, context.DeadlineExceeded: ErrDeadlineExceeded,
		status.Error(codes.DeadlineExceeded, ""): ErrDeadlineExceeded,
	} {
		made := fmt.Errorf("wrapped: %w", errorOf(cause))
		if !errors.Is(made, kind) {
			t.Errorf("%v is not %v", made, kind)
		}
	}
	if !errors.Is(errorOf(status.Error(codes.DeadlineExceeded, "")), context.DeadlineExceeded) {
		t.Error("a deadline of a call is not context.DeadlineExceeded")
	}
}

func TestOnlyWhatMayHelpIsTriedAgain(t *testing.T) {
	policy := DefaultOptions().Retry
	cases := []struct {
		reason string
		wish   time.Duration
		again  bool
	}{
		{"STORE_UNAVAILABLE", 0, true}, {"SHUTTING_DOWN", time.Second, true}, {"REVISION_CONFLICT", 0, true},
		{"STORE_UNAVAILABLE", time.Minute, false}, {"QUOTA_EXCEEDED", time.Second, true}, {"QUOTA_EXCEEDED", 0, false},
		{"FLUSH_IN_PROGRESS", time.Second, false}, {"TRANSCRIPT_MISMATCH", 0, false}, {"INTERNAL", 0, false},
	}
	for _, one := range cases {
		made := errorOf(failure(codes.Unknown, &errdetails.ErrorInfo{Domain: domain, Reason: one.reason}, one.wish))
		delay, again := policy.delay(1, made)
		if again != one.again || (again && delay < one.wish) || delay > policy.MaxDelay {
			t.Errorf("%s, %v: again %v after %v", one.reason, one.wish, again, delay)
		}
		if _, again := policy.delay(policy.MaxAttempts, made); again {
			t.Errorf("%s is tried more than %d times", one.reason, policy.MaxAttempts)
		}
	}
	if delay, _ := policy.delay(3, errorOf(status.Error(codes.Unavailable, ""))); delay < 200*time.Millisecond || delay > 400*time.Millisecond {
		t.Errorf("the third wait is %v", delay)
	}
}

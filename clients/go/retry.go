package condense

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// A RetryPolicy says how often a call is tried, and how long to wait between. The wait doubles each time, and a
// server's own wish is honoured; one that asks for more than MaxDelay gets no further try.
//
// Every call of this client is safe to repeat, so it is repeated when nothing came back, when the server asks to come
// back later, and when servers ran into each other.
type RetryPolicy struct {
	MaxAttempts          int
	FirstDelay, MaxDelay time.Duration
}

// NeverRetry makes every failure the caller's at once.
var NeverRetry = RetryPolicy{MaxAttempts: 1}

// delay is how long to wait after the failed attempt number attempt (from 1); false: do not try again.
func (policy RetryPolicy) delay(attempt int, err *Error) (time.Duration, bool) {
	wish, hasWish := err.RetryAfter()
	transient := errors.Is(err, ErrUnavailable) || errors.Is(err, ErrRevisionConflict) ||
		(errors.Is(err, ErrQuotaExceeded) && hasWish)
	if !transient || attempt >= policy.MaxAttempts || wish > policy.MaxDelay {
		return 0, false
	}
	delay := policy.MaxDelay
	if shift := attempt - 1; shift < 30 && policy.FirstDelay<<shift < delay {
		delay = policy.FirstDelay << shift
	}
	jittered := time.Duration(float64(delay) * (0.5 + rand.Float64()/2))
	return max(jittered, wish), true
}

// withRetries runs an attempt until it succeeds or the policy gives up, and then returns its last error.
func withRetries(ctx context.Context, policy RetryPolicy, attempt func() error) error {
	for number := 1; ; number++ {
		err := attempt()
		if err == nil {
			return nil
		}
		failure := errorOf(err)
		delay, again := policy.delay(number, failure)
		if !again {
			return failure
		}
		timer := time.NewTimer(delay)
		select {
		case <-ctx.Done():
			timer.Stop()
			return errorOf(ctx.Err())
		case <-timer.C:
		}
	}
}

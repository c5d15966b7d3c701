package condense

import (
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
)

const mib = 1024 * 1024

// Options say how a client connects and how long it waits. DefaultOptions fit a server with default settings.
type Options struct {
	// Credentials of the connection; nil: plain text.
	Credentials credentials.TransportCredentials
	// Token is sent as a bearer with every call; "": none.
	Token string
	// MaxMessageBytes is the limit of one gRPC message in both directions, and should equal the server's.
	MaxMessageBytes int
	// New messages of more than UnaryDeltaBytes are uploaded as a stream of chunks of about ChunkBytes.
	UnaryDeltaBytes, ChunkBytes int
	// Keepalive is how often the connection is probed during calls.
	Keepalive time.Duration
	// CallTimeout and UploadTimeout hold for one attempt, besides the context; 0: none. A flush has none, because a
	// summarizer takes the time it takes.
	CallTimeout, UploadTimeout time.Duration
	// Retry says when a call that has failed is tried again.
	Retry RetryPolicy
	// DialOptions are added to the client's own.
	DialOptions []grpc.DialOption
}

// DefaultOptions are the options of a client that is given none.
func DefaultOptions() Options {
	return Options{
		MaxMessageBytes: 64 * mib,
		UnaryDeltaBytes: 2 * mib,
		ChunkBytes:      mib,
		Keepalive:       60 * time.Second,
		CallTimeout:     30 * time.Second,
		UploadTimeout:   300 * time.Second,
		Retry:           RetryPolicy{MaxAttempts: 4, FirstDelay: 100 * time.Millisecond, MaxDelay: 10 * time.Second},
	}
}

// An Option changes the options of a client.
type Option func(*Options)

// WithTLS encrypts the connection.
func WithTLS(transport credentials.TransportCredentials) Option {
	return func(options *Options) { options.Credentials = transport }
}

// WithToken sends a token as a bearer with every call.
func WithToken(token string) Option { return func(options *Options) { options.Token = token } }

// WithCallTimeout bounds every attempt of a call.
func WithCallTimeout(timeout time.Duration) Option {
	return func(options *Options) { options.CallTimeout = timeout }
}

// WithRetry sets when a call that has failed is tried again.
func WithRetry(policy RetryPolicy) Option { return func(options *Options) { options.Retry = policy } }

// With changes any options.
func With(change func(*Options)) Option { return change }

func (options *Options) dialOptions() []grpc.DialOption {
	transport := options.Credentials
	if transport == nil {
		transport = insecure.NewCredentials()
	}
	own := []grpc.DialOption{
		grpc.WithTransportCredentials(transport),
		grpc.WithDefaultCallOptions(
			grpc.MaxCallRecvMsgSize(options.MaxMessageBytes), grpc.MaxCallSendMsgSize(options.MaxMessageBytes),
		),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: options.Keepalive, Timeout: 20 * time.Second}),
		// Retries are the client's own: they follow the reason of an error. A server that is back is found soon.
		grpc.WithDisableRetry(),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 5 * time.Second},
			MinConnectTimeout: 10 * time.Second,
		}),
	}
	return append(own, options.DialOptions...)
}

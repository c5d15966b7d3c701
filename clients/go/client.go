package condense

import (
	"context"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	condensev1 "github.com/condense-grpc/condense-grpc/clients/go/gen/condense/v1"
)

// Longer ids are not for load balancers: the server refuses them, and metadata of their size would not reach it.
const maxSessionHeader = 8000

// A Client is a connection to a server. It may be shared by goroutines, and is closed by Close.
type Client struct {
	options      Options
	connection   *grpc.ClientConn
	condense     condensev1.CondenseServiceClient
	sessions     condensev1.SessionServiceClient
	capabilities condensev1.CapabilitiesServiceClient
}

// NewClient connects, lazily, to host:port; without WithTLS in plain text.
func NewClient(target string, options ...Option) (*Client, error) {
	chosen := DefaultOptions()
	for _, option := range options {
		option(&chosen)
	}
	if strings.ContainsFunc(chosen.Token, func(char rune) bool { return char < ' ' || char > '~' }) {
		return nil, refused(ErrRequestInvalid, "the token has characters that no header can hold: check it", nil)
	}
	connection, err := grpc.NewClient(target, chosen.dialOptions()...)
	if err != nil {
		return nil, fmt.Errorf("condense: the target %q cannot be used: %w", target, err)
	}
	return &Client{
		options:      chosen,
		connection:   connection,
		condense:     condensev1.NewCondenseServiceClient(connection),
		sessions:     condensev1.NewSessionServiceClient(connection),
		capabilities: condensev1.NewCapabilitiesServiceClient(connection),
	}, nil
}

// Options are the options that the client works with.
func (c *Client) Options() Options { return c.options }

// Connection is the gRPC connection, for calls that sessions do not have. The client owns it.
func (c *Client) Connection() *grpc.ClientConn { return c.connection }

// Capabilities are what the server can do, and its limits.
func (c *Client) Capabilities(ctx context.Context) (*condensev1.GetCapabilitiesResponse, error) {
	return call(c.outgoing(ctx, ""), c, c.options.CallTimeout, &condensev1.GetCapabilitiesRequest{}, c.capabilities.GetCapabilities)
}

// Close ends all calls and closes the connection. The sessions stay on the server. Closing again does nothing.
func (c *Client) Close() error {
	if err := c.connection.Close(); err != nil && status.Code(err) != codes.Canceled {
		return err
	}
	return nil
}

// outgoing adds the metadata of a call: credentials, and the session for load balancers that keep it on one server.
func (c *Client) outgoing(ctx context.Context, sessionID string) context.Context {
	if c.options.Token != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+c.options.Token)
	}
	if session := quoted(sessionID); session != "" && len(session) <= maxSessionHeader {
		ctx = metadata.AppendToOutgoingContext(ctx, "x-condense-session", session)
	}
	return ctx
}

// quoted percent-encodes everything but printable ASCII: metadata holds nothing else.
func quoted(text string) string {
	var quoted strings.Builder
	for _, octet := range []byte(text) {
		if octet > ' ' && octet < 0x7f && octet != '%' {
			quoted.WriteByte(octet)
		} else {
			fmt.Fprintf(&quoted, "%%%02X", octet)
		}
	}
	return quoted.String()
}

// call makes a unary call, tried again as the policy says.
func call[Request, Response any](
	ctx context.Context, c *Client, timeout time.Duration, request Request,
	method func(context.Context, Request, ...grpc.CallOption) (Response, error),
) (response Response, err error) {
	err = withRetries(ctx, c.options.Retry, func() (failure error) {
		attempt, cancel := bounded(ctx, timeout)
		defer cancel()
		response, failure = method(attempt, request)
		return failure
	})
	return response, err
}

func bounded(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, timeout)
}

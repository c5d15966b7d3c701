// Package condense is the Go client of condense_grpc, the service that keeps the context of LLM agents small.
package condense

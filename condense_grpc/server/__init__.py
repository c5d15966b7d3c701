"""The gRPC edge: servicers, conversion between the contract and the domain, errors, and the app."""

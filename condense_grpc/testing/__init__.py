"""Shipped test tools: conformance classes for stores and summarizers, fakes, validators."""

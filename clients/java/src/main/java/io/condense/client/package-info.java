/**
 * The client of condense_grpc, a service that keeps the context of LLM agents small and loses
 * nothing.
 *
 * <p>You keep your own raw history; before each request to the model {@link
 * io.condense.client.Session#prune} says what to send instead. Histories are lists of JSON values
 * in the shape of a provider ({@link io.condense.client.Format}), by default nodes of Jackson.
 */
package io.condense.client;

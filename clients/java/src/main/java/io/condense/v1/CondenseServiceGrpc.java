package io.condense.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * Keeps the context of an agent small and loses nothing.
 * The agent keeps its own raw history and tells the server what is new in it. The server answers with what to send to
 * the model instead: old tool results shown as stubs that carry a ref, summaries in their place, finished chains as
 * blocks. It keeps every original and gives it back by its ref.
 * One turn: `PruneMessages`, the agent's own request to the model, `QueryToolCall` whenever the model calls the
 * recovery tool (its definition is in `GetCapabilities`; register it from the first request on), and after an answer
 * without tool calls a flush, which the server starts by itself or the client with `FlushBatches`.
 * Every error carries exactly one `google.rpc.ErrorInfo` with domain `condense.v1` and a reason of `ErrorReason`. On
 * top of the errors listed per call, every call can fail with `REQUEST_INVALID`, `NOT_IMPLEMENTED`,
 * `UNAUTHENTICATED`, `PERMISSION_DENIED`, `QUOTA_EXCEEDED`, `STORE_UNAVAILABLE`, `SHUTTING_DOWN`, `REVISION_CONFLICT`
 * and `INTERNAL`; see their comments. Calls of one session may overlap, and each sees the session either before or
 * after any other.
 * Clients may send the session id as the metadata `x-condense-session` too, so that a load balancer can keep a
 * session on one server. It is never required.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class CondenseServiceGrpc {

  private CondenseServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "condense.v1.CondenseService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<io.condense.v1.PruneMessagesRequest,
      io.condense.v1.PruneMessagesResponse> getPruneMessagesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "PruneMessages",
      requestType = io.condense.v1.PruneMessagesRequest.class,
      responseType = io.condense.v1.PruneMessagesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.condense.v1.PruneMessagesRequest,
      io.condense.v1.PruneMessagesResponse> getPruneMessagesMethod() {
    io.grpc.MethodDescriptor<io.condense.v1.PruneMessagesRequest, io.condense.v1.PruneMessagesResponse> getPruneMessagesMethod;
    if ((getPruneMessagesMethod = CondenseServiceGrpc.getPruneMessagesMethod) == null) {
      synchronized (CondenseServiceGrpc.class) {
        if ((getPruneMessagesMethod = CondenseServiceGrpc.getPruneMessagesMethod) == null) {
          CondenseServiceGrpc.getPruneMessagesMethod = getPruneMessagesMethod =
              io.grpc.MethodDescriptor.<io.condense.v1.PruneMessagesRequest, io.condense.v1.PruneMessagesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "PruneMessages"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.PruneMessagesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.PruneMessagesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new CondenseServiceMethodDescriptorSupplier("PruneMessages"))
              .build();
        }
      }
    }
    return getPruneMessagesMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.condense.v1.FlushBatchesRequest,
      io.condense.v1.FlushBatchesResponse> getFlushBatchesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "FlushBatches",
      requestType = io.condense.v1.FlushBatchesRequest.class,
      responseType = io.condense.v1.FlushBatchesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
  public static io.grpc.MethodDescriptor<io.condense.v1.FlushBatchesRequest,
      io.condense.v1.FlushBatchesResponse> getFlushBatchesMethod() {
    io.grpc.MethodDescriptor<io.condense.v1.FlushBatchesRequest, io.condense.v1.FlushBatchesResponse> getFlushBatchesMethod;
    if ((getFlushBatchesMethod = CondenseServiceGrpc.getFlushBatchesMethod) == null) {
      synchronized (CondenseServiceGrpc.class) {
        if ((getFlushBatchesMethod = CondenseServiceGrpc.getFlushBatchesMethod) == null) {
          CondenseServiceGrpc.getFlushBatchesMethod = getFlushBatchesMethod =
              io.grpc.MethodDescriptor.<io.condense.v1.FlushBatchesRequest, io.condense.v1.FlushBatchesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "FlushBatches"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.FlushBatchesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.FlushBatchesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new CondenseServiceMethodDescriptorSupplier("FlushBatches"))
              .build();
        }
      }
    }
    return getFlushBatchesMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.condense.v1.QueryToolCallRequest,
      io.condense.v1.QueryToolCallResponse> getQueryToolCallMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "QueryToolCall",
      requestType = io.condense.v1.QueryToolCallRequest.class,
      responseType = io.condense.v1.QueryToolCallResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.condense.v1.QueryToolCallRequest,
      io.condense.v1.QueryToolCallResponse> getQueryToolCallMethod() {
    io.grpc.MethodDescriptor<io.condense.v1.QueryToolCallRequest, io.condense.v1.QueryToolCallResponse> getQueryToolCallMethod;
    if ((getQueryToolCallMethod = CondenseServiceGrpc.getQueryToolCallMethod) == null) {
      synchronized (CondenseServiceGrpc.class) {
        if ((getQueryToolCallMethod = CondenseServiceGrpc.getQueryToolCallMethod) == null) {
          CondenseServiceGrpc.getQueryToolCallMethod = getQueryToolCallMethod =
              io.grpc.MethodDescriptor.<io.condense.v1.QueryToolCallRequest, io.condense.v1.QueryToolCallResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "QueryToolCall"))
              .setSafe(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.QueryToolCallRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.QueryToolCallResponse.getDefaultInstance()))
              .setSchemaDescriptor(new CondenseServiceMethodDescriptorSupplier("QueryToolCall"))
              .build();
        }
      }
    }
    return getQueryToolCallMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.condense.v1.ReadToolResultRequest,
      io.condense.v1.ReadToolResultResponse> getReadToolResultMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ReadToolResult",
      requestType = io.condense.v1.ReadToolResultRequest.class,
      responseType = io.condense.v1.ReadToolResultResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
  public static io.grpc.MethodDescriptor<io.condense.v1.ReadToolResultRequest,
      io.condense.v1.ReadToolResultResponse> getReadToolResultMethod() {
    io.grpc.MethodDescriptor<io.condense.v1.ReadToolResultRequest, io.condense.v1.ReadToolResultResponse> getReadToolResultMethod;
    if ((getReadToolResultMethod = CondenseServiceGrpc.getReadToolResultMethod) == null) {
      synchronized (CondenseServiceGrpc.class) {
        if ((getReadToolResultMethod = CondenseServiceGrpc.getReadToolResultMethod) == null) {
          CondenseServiceGrpc.getReadToolResultMethod = getReadToolResultMethod =
              io.grpc.MethodDescriptor.<io.condense.v1.ReadToolResultRequest, io.condense.v1.ReadToolResultResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ReadToolResult"))
              .setSafe(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.ReadToolResultRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.ReadToolResultResponse.getDefaultInstance()))
              .setSchemaDescriptor(new CondenseServiceMethodDescriptorSupplier("ReadToolResult"))
              .build();
        }
      }
    }
    return getReadToolResultMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.condense.v1.SearchToolCallsRequest,
      io.condense.v1.SearchToolCallsResponse> getSearchToolCallsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "SearchToolCalls",
      requestType = io.condense.v1.SearchToolCallsRequest.class,
      responseType = io.condense.v1.SearchToolCallsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
  public static io.grpc.MethodDescriptor<io.condense.v1.SearchToolCallsRequest,
      io.condense.v1.SearchToolCallsResponse> getSearchToolCallsMethod() {
    io.grpc.MethodDescriptor<io.condense.v1.SearchToolCallsRequest, io.condense.v1.SearchToolCallsResponse> getSearchToolCallsMethod;
    if ((getSearchToolCallsMethod = CondenseServiceGrpc.getSearchToolCallsMethod) == null) {
      synchronized (CondenseServiceGrpc.class) {
        if ((getSearchToolCallsMethod = CondenseServiceGrpc.getSearchToolCallsMethod) == null) {
          CondenseServiceGrpc.getSearchToolCallsMethod = getSearchToolCallsMethod =
              io.grpc.MethodDescriptor.<io.condense.v1.SearchToolCallsRequest, io.condense.v1.SearchToolCallsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "SearchToolCalls"))
              .setSafe(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.SearchToolCallsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.SearchToolCallsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new CondenseServiceMethodDescriptorSupplier("SearchToolCalls"))
              .build();
        }
      }
    }
    return getSearchToolCallsMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.condense.v1.GetDiagnosticsRequest,
      io.condense.v1.GetDiagnosticsResponse> getGetDiagnosticsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetDiagnostics",
      requestType = io.condense.v1.GetDiagnosticsRequest.class,
      responseType = io.condense.v1.GetDiagnosticsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.condense.v1.GetDiagnosticsRequest,
      io.condense.v1.GetDiagnosticsResponse> getGetDiagnosticsMethod() {
    io.grpc.MethodDescriptor<io.condense.v1.GetDiagnosticsRequest, io.condense.v1.GetDiagnosticsResponse> getGetDiagnosticsMethod;
    if ((getGetDiagnosticsMethod = CondenseServiceGrpc.getGetDiagnosticsMethod) == null) {
      synchronized (CondenseServiceGrpc.class) {
        if ((getGetDiagnosticsMethod = CondenseServiceGrpc.getGetDiagnosticsMethod) == null) {
          CondenseServiceGrpc.getGetDiagnosticsMethod = getGetDiagnosticsMethod =
              io.grpc.MethodDescriptor.<io.condense.v1.GetDiagnosticsRequest, io.condense.v1.GetDiagnosticsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetDiagnostics"))
              .setSafe(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.GetDiagnosticsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.GetDiagnosticsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new CondenseServiceMethodDescriptorSupplier("GetDiagnostics"))
              .build();
        }
      }
    }
    return getGetDiagnosticsMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.condense.v1.AppendMessagesRequest,
      io.condense.v1.AppendMessagesResponse> getAppendMessagesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "AppendMessages",
      requestType = io.condense.v1.AppendMessagesRequest.class,
      responseType = io.condense.v1.AppendMessagesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.CLIENT_STREAMING)
  public static io.grpc.MethodDescriptor<io.condense.v1.AppendMessagesRequest,
      io.condense.v1.AppendMessagesResponse> getAppendMessagesMethod() {
    io.grpc.MethodDescriptor<io.condense.v1.AppendMessagesRequest, io.condense.v1.AppendMessagesResponse> getAppendMessagesMethod;
    if ((getAppendMessagesMethod = CondenseServiceGrpc.getAppendMessagesMethod) == null) {
      synchronized (CondenseServiceGrpc.class) {
        if ((getAppendMessagesMethod = CondenseServiceGrpc.getAppendMessagesMethod) == null) {
          CondenseServiceGrpc.getAppendMessagesMethod = getAppendMessagesMethod =
              io.grpc.MethodDescriptor.<io.condense.v1.AppendMessagesRequest, io.condense.v1.AppendMessagesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.CLIENT_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "AppendMessages"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.AppendMessagesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.AppendMessagesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new CondenseServiceMethodDescriptorSupplier("AppendMessages"))
              .build();
        }
      }
    }
    return getAppendMessagesMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.condense.v1.CompactChainsRequest,
      io.condense.v1.CompactChainsResponse> getCompactChainsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "CompactChains",
      requestType = io.condense.v1.CompactChainsRequest.class,
      responseType = io.condense.v1.CompactChainsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
  public static io.grpc.MethodDescriptor<io.condense.v1.CompactChainsRequest,
      io.condense.v1.CompactChainsResponse> getCompactChainsMethod() {
    io.grpc.MethodDescriptor<io.condense.v1.CompactChainsRequest, io.condense.v1.CompactChainsResponse> getCompactChainsMethod;
    if ((getCompactChainsMethod = CondenseServiceGrpc.getCompactChainsMethod) == null) {
      synchronized (CondenseServiceGrpc.class) {
        if ((getCompactChainsMethod = CondenseServiceGrpc.getCompactChainsMethod) == null) {
          CondenseServiceGrpc.getCompactChainsMethod = getCompactChainsMethod =
              io.grpc.MethodDescriptor.<io.condense.v1.CompactChainsRequest, io.condense.v1.CompactChainsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "CompactChains"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.CompactChainsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.CompactChainsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new CondenseServiceMethodDescriptorSupplier("CompactChains"))
              .build();
        }
      }
    }
    return getCompactChainsMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static CondenseServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<CondenseServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<CondenseServiceStub>() {
        @java.lang.Override
        public CondenseServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new CondenseServiceStub(channel, callOptions);
        }
      };
    return CondenseServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static CondenseServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<CondenseServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<CondenseServiceBlockingV2Stub>() {
        @java.lang.Override
        public CondenseServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new CondenseServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return CondenseServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static CondenseServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<CondenseServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<CondenseServiceBlockingStub>() {
        @java.lang.Override
        public CondenseServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new CondenseServiceBlockingStub(channel, callOptions);
        }
      };
    return CondenseServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static CondenseServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<CondenseServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<CondenseServiceFutureStub>() {
        @java.lang.Override
        public CondenseServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new CondenseServiceFutureStub(channel, callOptions);
        }
      };
    return CondenseServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * Keeps the context of an agent small and loses nothing.
   * The agent keeps its own raw history and tells the server what is new in it. The server answers with what to send to
   * the model instead: old tool results shown as stubs that carry a ref, summaries in their place, finished chains as
   * blocks. It keeps every original and gives it back by its ref.
   * One turn: `PruneMessages`, the agent's own request to the model, `QueryToolCall` whenever the model calls the
   * recovery tool (its definition is in `GetCapabilities`; register it from the first request on), and after an answer
   * without tool calls a flush, which the server starts by itself or the client with `FlushBatches`.
   * Every error carries exactly one `google.rpc.ErrorInfo` with domain `condense.v1` and a reason of `ErrorReason`. On
   * top of the errors listed per call, every call can fail with `REQUEST_INVALID`, `NOT_IMPLEMENTED`,
   * `UNAUTHENTICATED`, `PERMISSION_DENIED`, `QUOTA_EXCEEDED`, `STORE_UNAVAILABLE`, `SHUTTING_DOWN`, `REVISION_CONFLICT`
   * and `INTERNAL`; see their comments. Calls of one session may overlap, and each sees the session either before or
   * after any other.
   * Clients may send the session id as the metadata `x-condense-session` too, so that a load balancer can keep a
   * session on one server. It is never required.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * Appends new messages and says what to send to the model.
     * The view is a function of the transcript, the decisions taken by flushes, and the configuration; rendering
     * decides nothing. What is appended is durable at the latest before the first decision that needs it; a server that
     * has lost the end of a history says so with `TRANSCRIPT_MISMATCH`, and the client sends it again. A stub is never
     * shown before its original is durable.
     * On repeat: the same delta changes nothing, and the view is the same unless a flush has ended in between.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: create the session, or set `create_if_missing` and send everything.
     *  * `FAILED_PRECONDITION` `TRANSCRIPT_MISMATCH`: the base is not what the server has; send again from an earlier
     *    base, as the metadata says, or from 0.
     *  * `INVALID_ARGUMENT` `SESSION_ID_INVALID`, `MESSAGE_INVALID`, `MESSAGE_TOO_LARGE`, `NATIVE_JSON_INVALID`,
     *    `CONFIG_INVALID`, `SUMMARIZER_UNKNOWN`: nothing was appended; correct the request.
     *  * `INVALID_ARGUMENT` `DELTA_TOO_LARGE`: upload with `AppendMessages`.
     * </pre>
     */
    default void pruneMessages(io.condense.v1.PruneMessagesRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.PruneMessagesResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getPruneMessagesMethod(), responseObserver);
    }

    /**
     * <pre>
     * Condenses what is pending, and tells how it goes.
     * Works on the transcript as it is at the start; messages that arrive meanwhile are neither blocked nor lost. Every
     * batch is committed completely or not at all, and its event comes after its commit. An empty, failed, cut-off or
     * too long summary never removes anything.
     * A client that cancels stops the flush that it has started: batches not yet committed are pending again. With
     * `attach` it follows a flush that is already running and leaves it running. The outcome of every flush is also
     * found in `GetDiagnostics`.
     * On repeat: what was committed is not done again; a second flush at the same time is refused or, with `attach`,
     * followed. Nothing pending, trivial, oversized, repeated or failed batches, and a disabled session are outcomes,
     * not errors.
     * Errors: those of `PruneMessages`, and
     *  * `ABORTED` `FLUSH_IN_PROGRESS`: a flush or a compaction is running; set `attach`, or try again when it has
     *    ended. A delta of this request has been appended.
     * </pre>
     */
    default void flushBatches(io.condense.v1.FlushBatchesRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.FlushBatchesResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getFlushBatchesMethod(), responseObserver);
    }

    /**
     * <pre>
     * Gives originals back, whole or in slices, with the text that answers the model.
     * Works for every result that a stub, a summary or a block names, also while the session is disabled. Unknown refs
     * are never an error: their block says that they are unknown. A result that was recovered is not condensed again at
     * once (`recovery_grace_turns`), provided the agent calls its tool `context_tree_query`.
     * On repeat: the same answer.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `INVALID_ARGUMENT` `PATTERN_INVALID`: the regular expression of a slice cannot be used; correct it, or send it
     *    as literal text.
     *  * `INVALID_ARGUMENT` `REQUEST_INVALID`: more refs, slices or characters than `GetCapabilities` allows.
     * </pre>
     */
    default void queryToolCall(io.condense.v1.QueryToolCallRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.QueryToolCallResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getQueryToolCallMethod(), responseObserver);
    }

    /**
     * <pre>
     * Streams one original, verbatim and without limits of size.
     * On repeat: the same bytes. After a broken stream, go on with `offset_bytes` behind the last chunk.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id. (An unknown ref is a chunk with `found` false.)
     * </pre>
     */
    default void readToolResult(io.condense.v1.ReadToolResultRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.ReadToolResultResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getReadToolResultMethod(), responseObserver);
    }

    /**
     * <pre>
     * Searches the archive of a session, and streams the records that match, best matches first.
     * The archive holds every result of the transcript that is durable, also those that are still shown verbatim. No
     * match is an empty stream.
     * On repeat: the same records, unless the session has changed.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `INVALID_ARGUMENT` `PATTERN_INVALID`: the regular expression cannot be used; correct it.
     *  * `INVALID_ARGUMENT` `REQUEST_INVALID`: the query is empty or longer than `GetCapabilities` allows.
     * </pre>
     */
    default void searchToolCalls(io.condense.v1.SearchToolCallsRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.SearchToolCallsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getSearchToolCallsMethod(), responseObserver);
    }

    /**
     * <pre>
     * Reports how a session is doing: problems met, what the context consists of, costs, savings, the last flushes.
     * On repeat: the same, unless the session has changed.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `INVALID_ARGUMENT` `PAGE_TOKEN_INVALID`: begin again with an empty token.
     * </pre>
     */
    default void getDiagnostics(io.condense.v1.GetDiagnosticsRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.GetDiagnosticsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetDiagnosticsMethod(), responseObserver);
    }

    /**
     * <pre>
     * Appends a history that is too long for one message.
     * The chunks of a stream are one delta: it is appended as a whole when the client closes its side, or, on any error
     * or if the client goes away before, not at all.
     * On repeat: the same stream changes nothing.
     * Errors: those of `PruneMessages`; `DELTA_TOO_LARGE` then means that the stream is beyond its own limit.
     * </pre>
     */
    default io.grpc.stub.StreamObserver<io.condense.v1.AppendMessagesRequest> appendMessages(
        io.grpc.stub.StreamObserver<io.condense.v1.AppendMessagesResponse> responseObserver) {
      return io.grpc.stub.ServerCalls.asyncUnimplementedStreamingCall(getAppendMessagesMethod(), responseObserver);
    }

    /**
     * <pre>
     * Compresses every finished chain at once, also those within the rolling window, and tells how it goes.
     * Looks neither at `chain_compression.enabled` nor at pending results: what no summary covers is archived first.
     * Chains that touch a result within its recovery grace stay. A client that cancels stops it; chains that were
     * committed stay compressed.
     * On repeat: chains that are compressed already are reported as skipped.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `ABORTED` `FLUSH_IN_PROGRESS`: a flush or a compaction is running; set `attach`, or try again when it has
     *    ended.
     * </pre>
     */
    default void compactChains(io.condense.v1.CompactChainsRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.CompactChainsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCompactChainsMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service CondenseService.
   * <pre>
   * Keeps the context of an agent small and loses nothing.
   * The agent keeps its own raw history and tells the server what is new in it. The server answers with what to send to
   * the model instead: old tool results shown as stubs that carry a ref, summaries in their place, finished chains as
   * blocks. It keeps every original and gives it back by its ref.
   * One turn: `PruneMessages`, the agent's own request to the model, `QueryToolCall` whenever the model calls the
   * recovery tool (its definition is in `GetCapabilities`; register it from the first request on), and after an answer
   * without tool calls a flush, which the server starts by itself or the client with `FlushBatches`.
   * Every error carries exactly one `google.rpc.ErrorInfo` with domain `condense.v1` and a reason of `ErrorReason`. On
   * top of the errors listed per call, every call can fail with `REQUEST_INVALID`, `NOT_IMPLEMENTED`,
   * `UNAUTHENTICATED`, `PERMISSION_DENIED`, `QUOTA_EXCEEDED`, `STORE_UNAVAILABLE`, `SHUTTING_DOWN`, `REVISION_CONFLICT`
   * and `INTERNAL`; see their comments. Calls of one session may overlap, and each sees the session either before or
   * after any other.
   * Clients may send the session id as the metadata `x-condense-session` too, so that a load balancer can keep a
   * session on one server. It is never required.
   * </pre>
   */
  public static abstract class CondenseServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return CondenseServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service CondenseService.
   * <pre>
   * Keeps the context of an agent small and loses nothing.
   * The agent keeps its own raw history and tells the server what is new in it. The server answers with what to send to
   * the model instead: old tool results shown as stubs that carry a ref, summaries in their place, finished chains as
   * blocks. It keeps every original and gives it back by its ref.
   * One turn: `PruneMessages`, the agent's own request to the model, `QueryToolCall` whenever the model calls the
   * recovery tool (its definition is in `GetCapabilities`; register it from the first request on), and after an answer
   * without tool calls a flush, which the server starts by itself or the client with `FlushBatches`.
   * Every error carries exactly one `google.rpc.ErrorInfo` with domain `condense.v1` and a reason of `ErrorReason`. On
   * top of the errors listed per call, every call can fail with `REQUEST_INVALID`, `NOT_IMPLEMENTED`,
   * `UNAUTHENTICATED`, `PERMISSION_DENIED`, `QUOTA_EXCEEDED`, `STORE_UNAVAILABLE`, `SHUTTING_DOWN`, `REVISION_CONFLICT`
   * and `INTERNAL`; see their comments. Calls of one session may overlap, and each sees the session either before or
   * after any other.
   * Clients may send the session id as the metadata `x-condense-session` too, so that a load balancer can keep a
   * session on one server. It is never required.
   * </pre>
   */
  public static final class CondenseServiceStub
      extends io.grpc.stub.AbstractAsyncStub<CondenseServiceStub> {
    private CondenseServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected CondenseServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new CondenseServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * Appends new messages and says what to send to the model.
     * The view is a function of the transcript, the decisions taken by flushes, and the configuration; rendering
     * decides nothing. What is appended is durable at the latest before the first decision that needs it; a server that
     * has lost the end of a history says so with `TRANSCRIPT_MISMATCH`, and the client sends it again. A stub is never
     * shown before its original is durable.
     * On repeat: the same delta changes nothing, and the view is the same unless a flush has ended in between.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: create the session, or set `create_if_missing` and send everything.
     *  * `FAILED_PRECONDITION` `TRANSCRIPT_MISMATCH`: the base is not what the server has; send again from an earlier
     *    base, as the metadata says, or from 0.
     *  * `INVALID_ARGUMENT` `SESSION_ID_INVALID`, `MESSAGE_INVALID`, `MESSAGE_TOO_LARGE`, `NATIVE_JSON_INVALID`,
     *    `CONFIG_INVALID`, `SUMMARIZER_UNKNOWN`: nothing was appended; correct the request.
     *  * `INVALID_ARGUMENT` `DELTA_TOO_LARGE`: upload with `AppendMessages`.
     * </pre>
     */
    public void pruneMessages(io.condense.v1.PruneMessagesRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.PruneMessagesResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getPruneMessagesMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Condenses what is pending, and tells how it goes.
     * Works on the transcript as it is at the start; messages that arrive meanwhile are neither blocked nor lost. Every
     * batch is committed completely or not at all, and its event comes after its commit. An empty, failed, cut-off or
     * too long summary never removes anything.
     * A client that cancels stops the flush that it has started: batches not yet committed are pending again. With
     * `attach` it follows a flush that is already running and leaves it running. The outcome of every flush is also
     * found in `GetDiagnostics`.
     * On repeat: what was committed is not done again; a second flush at the same time is refused or, with `attach`,
     * followed. Nothing pending, trivial, oversized, repeated or failed batches, and a disabled session are outcomes,
     * not errors.
     * Errors: those of `PruneMessages`, and
     *  * `ABORTED` `FLUSH_IN_PROGRESS`: a flush or a compaction is running; set `attach`, or try again when it has
     *    ended. A delta of this request has been appended.
     * </pre>
     */
    public void flushBatches(io.condense.v1.FlushBatchesRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.FlushBatchesResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncServerStreamingCall(
          getChannel().newCall(getFlushBatchesMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Gives originals back, whole or in slices, with the text that answers the model.
     * Works for every result that a stub, a summary or a block names, also while the session is disabled. Unknown refs
     * are never an error: their block says that they are unknown. A result that was recovered is not condensed again at
     * once (`recovery_grace_turns`), provided the agent calls its tool `context_tree_query`.
     * On repeat: the same answer.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `INVALID_ARGUMENT` `PATTERN_INVALID`: the regular expression of a slice cannot be used; correct it, or send it
     *    as literal text.
     *  * `INVALID_ARGUMENT` `REQUEST_INVALID`: more refs, slices or characters than `GetCapabilities` allows.
     * </pre>
     */
    public void queryToolCall(io.condense.v1.QueryToolCallRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.QueryToolCallResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getQueryToolCallMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Streams one original, verbatim and without limits of size.
     * On repeat: the same bytes. After a broken stream, go on with `offset_bytes` behind the last chunk.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id. (An unknown ref is a chunk with `found` false.)
     * </pre>
     */
    public void readToolResult(io.condense.v1.ReadToolResultRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.ReadToolResultResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncServerStreamingCall(
          getChannel().newCall(getReadToolResultMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Searches the archive of a session, and streams the records that match, best matches first.
     * The archive holds every result of the transcript that is durable, also those that are still shown verbatim. No
     * match is an empty stream.
     * On repeat: the same records, unless the session has changed.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `INVALID_ARGUMENT` `PATTERN_INVALID`: the regular expression cannot be used; correct it.
     *  * `INVALID_ARGUMENT` `REQUEST_INVALID`: the query is empty or longer than `GetCapabilities` allows.
     * </pre>
     */
    public void searchToolCalls(io.condense.v1.SearchToolCallsRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.SearchToolCallsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncServerStreamingCall(
          getChannel().newCall(getSearchToolCallsMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Reports how a session is doing: problems met, what the context consists of, costs, savings, the last flushes.
     * On repeat: the same, unless the session has changed.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `INVALID_ARGUMENT` `PAGE_TOKEN_INVALID`: begin again with an empty token.
     * </pre>
     */
    public void getDiagnostics(io.condense.v1.GetDiagnosticsRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.GetDiagnosticsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetDiagnosticsMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Appends a history that is too long for one message.
     * The chunks of a stream are one delta: it is appended as a whole when the client closes its side, or, on any error
     * or if the client goes away before, not at all.
     * On repeat: the same stream changes nothing.
     * Errors: those of `PruneMessages`; `DELTA_TOO_LARGE` then means that the stream is beyond its own limit.
     * </pre>
     */
    public io.grpc.stub.StreamObserver<io.condense.v1.AppendMessagesRequest> appendMessages(
        io.grpc.stub.StreamObserver<io.condense.v1.AppendMessagesResponse> responseObserver) {
      return io.grpc.stub.ClientCalls.asyncClientStreamingCall(
          getChannel().newCall(getAppendMessagesMethod(), getCallOptions()), responseObserver);
    }

    /**
     * <pre>
     * Compresses every finished chain at once, also those within the rolling window, and tells how it goes.
     * Looks neither at `chain_compression.enabled` nor at pending results: what no summary covers is archived first.
     * Chains that touch a result within its recovery grace stay. A client that cancels stops it; chains that were
     * committed stay compressed.
     * On repeat: chains that are compressed already are reported as skipped.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `ABORTED` `FLUSH_IN_PROGRESS`: a flush or a compaction is running; set `attach`, or try again when it has
     *    ended.
     * </pre>
     */
    public void compactChains(io.condense.v1.CompactChainsRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.CompactChainsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncServerStreamingCall(
          getChannel().newCall(getCompactChainsMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service CondenseService.
   * <pre>
   * Keeps the context of an agent small and loses nothing.
   * The agent keeps its own raw history and tells the server what is new in it. The server answers with what to send to
   * the model instead: old tool results shown as stubs that carry a ref, summaries in their place, finished chains as
   * blocks. It keeps every original and gives it back by its ref.
   * One turn: `PruneMessages`, the agent's own request to the model, `QueryToolCall` whenever the model calls the
   * recovery tool (its definition is in `GetCapabilities`; register it from the first request on), and after an answer
   * without tool calls a flush, which the server starts by itself or the client with `FlushBatches`.
   * Every error carries exactly one `google.rpc.ErrorInfo` with domain `condense.v1` and a reason of `ErrorReason`. On
   * top of the errors listed per call, every call can fail with `REQUEST_INVALID`, `NOT_IMPLEMENTED`,
   * `UNAUTHENTICATED`, `PERMISSION_DENIED`, `QUOTA_EXCEEDED`, `STORE_UNAVAILABLE`, `SHUTTING_DOWN`, `REVISION_CONFLICT`
   * and `INTERNAL`; see their comments. Calls of one session may overlap, and each sees the session either before or
   * after any other.
   * Clients may send the session id as the metadata `x-condense-session` too, so that a load balancer can keep a
   * session on one server. It is never required.
   * </pre>
   */
  public static final class CondenseServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<CondenseServiceBlockingV2Stub> {
    private CondenseServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected CondenseServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new CondenseServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * Appends new messages and says what to send to the model.
     * The view is a function of the transcript, the decisions taken by flushes, and the configuration; rendering
     * decides nothing. What is appended is durable at the latest before the first decision that needs it; a server that
     * has lost the end of a history says so with `TRANSCRIPT_MISMATCH`, and the client sends it again. A stub is never
     * shown before its original is durable.
     * On repeat: the same delta changes nothing, and the view is the same unless a flush has ended in between.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: create the session, or set `create_if_missing` and send everything.
     *  * `FAILED_PRECONDITION` `TRANSCRIPT_MISMATCH`: the base is not what the server has; send again from an earlier
     *    base, as the metadata says, or from 0.
     *  * `INVALID_ARGUMENT` `SESSION_ID_INVALID`, `MESSAGE_INVALID`, `MESSAGE_TOO_LARGE`, `NATIVE_JSON_INVALID`,
     *    `CONFIG_INVALID`, `SUMMARIZER_UNKNOWN`: nothing was appended; correct the request.
     *  * `INVALID_ARGUMENT` `DELTA_TOO_LARGE`: upload with `AppendMessages`.
     * </pre>
     */
    public io.condense.v1.PruneMessagesResponse pruneMessages(io.condense.v1.PruneMessagesRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getPruneMessagesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Condenses what is pending, and tells how it goes.
     * Works on the transcript as it is at the start; messages that arrive meanwhile are neither blocked nor lost. Every
     * batch is committed completely or not at all, and its event comes after its commit. An empty, failed, cut-off or
     * too long summary never removes anything.
     * A client that cancels stops the flush that it has started: batches not yet committed are pending again. With
     * `attach` it follows a flush that is already running and leaves it running. The outcome of every flush is also
     * found in `GetDiagnostics`.
     * On repeat: what was committed is not done again; a second flush at the same time is refused or, with `attach`,
     * followed. Nothing pending, trivial, oversized, repeated or failed batches, and a disabled session are outcomes,
     * not errors.
     * Errors: those of `PruneMessages`, and
     *  * `ABORTED` `FLUSH_IN_PROGRESS`: a flush or a compaction is running; set `attach`, or try again when it has
     *    ended. A delta of this request has been appended.
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<?, io.condense.v1.FlushBatchesResponse>
        flushBatches(io.condense.v1.FlushBatchesRequest request) {
      return io.grpc.stub.ClientCalls.blockingV2ServerStreamingCall(
          getChannel(), getFlushBatchesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Gives originals back, whole or in slices, with the text that answers the model.
     * Works for every result that a stub, a summary or a block names, also while the session is disabled. Unknown refs
     * are never an error: their block says that they are unknown. A result that was recovered is not condensed again at
     * once (`recovery_grace_turns`), provided the agent calls its tool `context_tree_query`.
     * On repeat: the same answer.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `INVALID_ARGUMENT` `PATTERN_INVALID`: the regular expression of a slice cannot be used; correct it, or send it
     *    as literal text.
     *  * `INVALID_ARGUMENT` `REQUEST_INVALID`: more refs, slices or characters than `GetCapabilities` allows.
     * </pre>
     */
    public io.condense.v1.QueryToolCallResponse queryToolCall(io.condense.v1.QueryToolCallRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getQueryToolCallMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Streams one original, verbatim and without limits of size.
     * On repeat: the same bytes. After a broken stream, go on with `offset_bytes` behind the last chunk.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id. (An unknown ref is a chunk with `found` false.)
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<?, io.condense.v1.ReadToolResultResponse>
        readToolResult(io.condense.v1.ReadToolResultRequest request) {
      return io.grpc.stub.ClientCalls.blockingV2ServerStreamingCall(
          getChannel(), getReadToolResultMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Searches the archive of a session, and streams the records that match, best matches first.
     * The archive holds every result of the transcript that is durable, also those that are still shown verbatim. No
     * match is an empty stream.
     * On repeat: the same records, unless the session has changed.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `INVALID_ARGUMENT` `PATTERN_INVALID`: the regular expression cannot be used; correct it.
     *  * `INVALID_ARGUMENT` `REQUEST_INVALID`: the query is empty or longer than `GetCapabilities` allows.
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<?, io.condense.v1.SearchToolCallsResponse>
        searchToolCalls(io.condense.v1.SearchToolCallsRequest request) {
      return io.grpc.stub.ClientCalls.blockingV2ServerStreamingCall(
          getChannel(), getSearchToolCallsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Reports how a session is doing: problems met, what the context consists of, costs, savings, the last flushes.
     * On repeat: the same, unless the session has changed.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `INVALID_ARGUMENT` `PAGE_TOKEN_INVALID`: begin again with an empty token.
     * </pre>
     */
    public io.condense.v1.GetDiagnosticsResponse getDiagnostics(io.condense.v1.GetDiagnosticsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetDiagnosticsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Appends a history that is too long for one message.
     * The chunks of a stream are one delta: it is appended as a whole when the client closes its side, or, on any error
     * or if the client goes away before, not at all.
     * On repeat: the same stream changes nothing.
     * Errors: those of `PruneMessages`; `DELTA_TOO_LARGE` then means that the stream is beyond its own limit.
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<io.condense.v1.AppendMessagesRequest, io.condense.v1.AppendMessagesResponse>
        appendMessages() {
      return io.grpc.stub.ClientCalls.blockingClientStreamingCall(
          getChannel(), getAppendMessagesMethod(), getCallOptions());
    }

    /**
     * <pre>
     * Compresses every finished chain at once, also those within the rolling window, and tells how it goes.
     * Looks neither at `chain_compression.enabled` nor at pending results: what no summary covers is archived first.
     * Chains that touch a result within its recovery grace stay. A client that cancels stops it; chains that were
     * committed stay compressed.
     * On repeat: chains that are compressed already are reported as skipped.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `ABORTED` `FLUSH_IN_PROGRESS`: a flush or a compaction is running; set `attach`, or try again when it has
     *    ended.
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<?, io.condense.v1.CompactChainsResponse>
        compactChains(io.condense.v1.CompactChainsRequest request) {
      return io.grpc.stub.ClientCalls.blockingV2ServerStreamingCall(
          getChannel(), getCompactChainsMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service CondenseService.
   * <pre>
   * Keeps the context of an agent small and loses nothing.
   * The agent keeps its own raw history and tells the server what is new in it. The server answers with what to send to
   * the model instead: old tool results shown as stubs that carry a ref, summaries in their place, finished chains as
   * blocks. It keeps every original and gives it back by its ref.
   * One turn: `PruneMessages`, the agent's own request to the model, `QueryToolCall` whenever the model calls the
   * recovery tool (its definition is in `GetCapabilities`; register it from the first request on), and after an answer
   * without tool calls a flush, which the server starts by itself or the client with `FlushBatches`.
   * Every error carries exactly one `google.rpc.ErrorInfo` with domain `condense.v1` and a reason of `ErrorReason`. On
   * top of the errors listed per call, every call can fail with `REQUEST_INVALID`, `NOT_IMPLEMENTED`,
   * `UNAUTHENTICATED`, `PERMISSION_DENIED`, `QUOTA_EXCEEDED`, `STORE_UNAVAILABLE`, `SHUTTING_DOWN`, `REVISION_CONFLICT`
   * and `INTERNAL`; see their comments. Calls of one session may overlap, and each sees the session either before or
   * after any other.
   * Clients may send the session id as the metadata `x-condense-session` too, so that a load balancer can keep a
   * session on one server. It is never required.
   * </pre>
   */
  public static final class CondenseServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<CondenseServiceBlockingStub> {
    private CondenseServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected CondenseServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new CondenseServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * Appends new messages and says what to send to the model.
     * The view is a function of the transcript, the decisions taken by flushes, and the configuration; rendering
     * decides nothing. What is appended is durable at the latest before the first decision that needs it; a server that
     * has lost the end of a history says so with `TRANSCRIPT_MISMATCH`, and the client sends it again. A stub is never
     * shown before its original is durable.
     * On repeat: the same delta changes nothing, and the view is the same unless a flush has ended in between.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: create the session, or set `create_if_missing` and send everything.
     *  * `FAILED_PRECONDITION` `TRANSCRIPT_MISMATCH`: the base is not what the server has; send again from an earlier
     *    base, as the metadata says, or from 0.
     *  * `INVALID_ARGUMENT` `SESSION_ID_INVALID`, `MESSAGE_INVALID`, `MESSAGE_TOO_LARGE`, `NATIVE_JSON_INVALID`,
     *    `CONFIG_INVALID`, `SUMMARIZER_UNKNOWN`: nothing was appended; correct the request.
     *  * `INVALID_ARGUMENT` `DELTA_TOO_LARGE`: upload with `AppendMessages`.
     * </pre>
     */
    public io.condense.v1.PruneMessagesResponse pruneMessages(io.condense.v1.PruneMessagesRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getPruneMessagesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Condenses what is pending, and tells how it goes.
     * Works on the transcript as it is at the start; messages that arrive meanwhile are neither blocked nor lost. Every
     * batch is committed completely or not at all, and its event comes after its commit. An empty, failed, cut-off or
     * too long summary never removes anything.
     * A client that cancels stops the flush that it has started: batches not yet committed are pending again. With
     * `attach` it follows a flush that is already running and leaves it running. The outcome of every flush is also
     * found in `GetDiagnostics`.
     * On repeat: what was committed is not done again; a second flush at the same time is refused or, with `attach`,
     * followed. Nothing pending, trivial, oversized, repeated or failed batches, and a disabled session are outcomes,
     * not errors.
     * Errors: those of `PruneMessages`, and
     *  * `ABORTED` `FLUSH_IN_PROGRESS`: a flush or a compaction is running; set `attach`, or try again when it has
     *    ended. A delta of this request has been appended.
     * </pre>
     */
    public java.util.Iterator<io.condense.v1.FlushBatchesResponse> flushBatches(
        io.condense.v1.FlushBatchesRequest request) {
      return io.grpc.stub.ClientCalls.blockingServerStreamingCall(
          getChannel(), getFlushBatchesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Gives originals back, whole or in slices, with the text that answers the model.
     * Works for every result that a stub, a summary or a block names, also while the session is disabled. Unknown refs
     * are never an error: their block says that they are unknown. A result that was recovered is not condensed again at
     * once (`recovery_grace_turns`), provided the agent calls its tool `context_tree_query`.
     * On repeat: the same answer.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `INVALID_ARGUMENT` `PATTERN_INVALID`: the regular expression of a slice cannot be used; correct it, or send it
     *    as literal text.
     *  * `INVALID_ARGUMENT` `REQUEST_INVALID`: more refs, slices or characters than `GetCapabilities` allows.
     * </pre>
     */
    public io.condense.v1.QueryToolCallResponse queryToolCall(io.condense.v1.QueryToolCallRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getQueryToolCallMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Streams one original, verbatim and without limits of size.
     * On repeat: the same bytes. After a broken stream, go on with `offset_bytes` behind the last chunk.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id. (An unknown ref is a chunk with `found` false.)
     * </pre>
     */
    public java.util.Iterator<io.condense.v1.ReadToolResultResponse> readToolResult(
        io.condense.v1.ReadToolResultRequest request) {
      return io.grpc.stub.ClientCalls.blockingServerStreamingCall(
          getChannel(), getReadToolResultMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Searches the archive of a session, and streams the records that match, best matches first.
     * The archive holds every result of the transcript that is durable, also those that are still shown verbatim. No
     * match is an empty stream.
     * On repeat: the same records, unless the session has changed.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `INVALID_ARGUMENT` `PATTERN_INVALID`: the regular expression cannot be used; correct it.
     *  * `INVALID_ARGUMENT` `REQUEST_INVALID`: the query is empty or longer than `GetCapabilities` allows.
     * </pre>
     */
    public java.util.Iterator<io.condense.v1.SearchToolCallsResponse> searchToolCalls(
        io.condense.v1.SearchToolCallsRequest request) {
      return io.grpc.stub.ClientCalls.blockingServerStreamingCall(
          getChannel(), getSearchToolCallsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Reports how a session is doing: problems met, what the context consists of, costs, savings, the last flushes.
     * On repeat: the same, unless the session has changed.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `INVALID_ARGUMENT` `PAGE_TOKEN_INVALID`: begin again with an empty token.
     * </pre>
     */
    public io.condense.v1.GetDiagnosticsResponse getDiagnostics(io.condense.v1.GetDiagnosticsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetDiagnosticsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Compresses every finished chain at once, also those within the rolling window, and tells how it goes.
     * Looks neither at `chain_compression.enabled` nor at pending results: what no summary covers is archived first.
     * Chains that touch a result within its recovery grace stay. A client that cancels stops it; chains that were
     * committed stay compressed.
     * On repeat: chains that are compressed already are reported as skipped.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `ABORTED` `FLUSH_IN_PROGRESS`: a flush or a compaction is running; set `attach`, or try again when it has
     *    ended.
     * </pre>
     */
    public java.util.Iterator<io.condense.v1.CompactChainsResponse> compactChains(
        io.condense.v1.CompactChainsRequest request) {
      return io.grpc.stub.ClientCalls.blockingServerStreamingCall(
          getChannel(), getCompactChainsMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service CondenseService.
   * <pre>
   * Keeps the context of an agent small and loses nothing.
   * The agent keeps its own raw history and tells the server what is new in it. The server answers with what to send to
   * the model instead: old tool results shown as stubs that carry a ref, summaries in their place, finished chains as
   * blocks. It keeps every original and gives it back by its ref.
   * One turn: `PruneMessages`, the agent's own request to the model, `QueryToolCall` whenever the model calls the
   * recovery tool (its definition is in `GetCapabilities`; register it from the first request on), and after an answer
   * without tool calls a flush, which the server starts by itself or the client with `FlushBatches`.
   * Every error carries exactly one `google.rpc.ErrorInfo` with domain `condense.v1` and a reason of `ErrorReason`. On
   * top of the errors listed per call, every call can fail with `REQUEST_INVALID`, `NOT_IMPLEMENTED`,
   * `UNAUTHENTICATED`, `PERMISSION_DENIED`, `QUOTA_EXCEEDED`, `STORE_UNAVAILABLE`, `SHUTTING_DOWN`, `REVISION_CONFLICT`
   * and `INTERNAL`; see their comments. Calls of one session may overlap, and each sees the session either before or
   * after any other.
   * Clients may send the session id as the metadata `x-condense-session` too, so that a load balancer can keep a
   * session on one server. It is never required.
   * </pre>
   */
  public static final class CondenseServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<CondenseServiceFutureStub> {
    private CondenseServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected CondenseServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new CondenseServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * Appends new messages and says what to send to the model.
     * The view is a function of the transcript, the decisions taken by flushes, and the configuration; rendering
     * decides nothing. What is appended is durable at the latest before the first decision that needs it; a server that
     * has lost the end of a history says so with `TRANSCRIPT_MISMATCH`, and the client sends it again. A stub is never
     * shown before its original is durable.
     * On repeat: the same delta changes nothing, and the view is the same unless a flush has ended in between.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: create the session, or set `create_if_missing` and send everything.
     *  * `FAILED_PRECONDITION` `TRANSCRIPT_MISMATCH`: the base is not what the server has; send again from an earlier
     *    base, as the metadata says, or from 0.
     *  * `INVALID_ARGUMENT` `SESSION_ID_INVALID`, `MESSAGE_INVALID`, `MESSAGE_TOO_LARGE`, `NATIVE_JSON_INVALID`,
     *    `CONFIG_INVALID`, `SUMMARIZER_UNKNOWN`: nothing was appended; correct the request.
     *  * `INVALID_ARGUMENT` `DELTA_TOO_LARGE`: upload with `AppendMessages`.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.condense.v1.PruneMessagesResponse> pruneMessages(
        io.condense.v1.PruneMessagesRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getPruneMessagesMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Gives originals back, whole or in slices, with the text that answers the model.
     * Works for every result that a stub, a summary or a block names, also while the session is disabled. Unknown refs
     * are never an error: their block says that they are unknown. A result that was recovered is not condensed again at
     * once (`recovery_grace_turns`), provided the agent calls its tool `context_tree_query`.
     * On repeat: the same answer.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `INVALID_ARGUMENT` `PATTERN_INVALID`: the regular expression of a slice cannot be used; correct it, or send it
     *    as literal text.
     *  * `INVALID_ARGUMENT` `REQUEST_INVALID`: more refs, slices or characters than `GetCapabilities` allows.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.condense.v1.QueryToolCallResponse> queryToolCall(
        io.condense.v1.QueryToolCallRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getQueryToolCallMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Reports how a session is doing: problems met, what the context consists of, costs, savings, the last flushes.
     * On repeat: the same, unless the session has changed.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `INVALID_ARGUMENT` `PAGE_TOKEN_INVALID`: begin again with an empty token.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.condense.v1.GetDiagnosticsResponse> getDiagnostics(
        io.condense.v1.GetDiagnosticsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetDiagnosticsMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_PRUNE_MESSAGES = 0;
  private static final int METHODID_FLUSH_BATCHES = 1;
  private static final int METHODID_QUERY_TOOL_CALL = 2;
  private static final int METHODID_READ_TOOL_RESULT = 3;
  private static final int METHODID_SEARCH_TOOL_CALLS = 4;
  private static final int METHODID_GET_DIAGNOSTICS = 5;
  private static final int METHODID_COMPACT_CHAINS = 6;
  private static final int METHODID_APPEND_MESSAGES = 7;

  private static final class MethodHandlers<Req, Resp> implements
      io.grpc.stub.ServerCalls.UnaryMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.ServerStreamingMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.ClientStreamingMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.BidiStreamingMethod<Req, Resp> {
    private final AsyncService serviceImpl;
    private final int methodId;

    MethodHandlers(AsyncService serviceImpl, int methodId) {
      this.serviceImpl = serviceImpl;
      this.methodId = methodId;
    }

    @java.lang.Override
    @java.lang.SuppressWarnings("unchecked")
    public void invoke(Req request, io.grpc.stub.StreamObserver<Resp> responseObserver) {
      switch (methodId) {
        case METHODID_PRUNE_MESSAGES:
          serviceImpl.pruneMessages((io.condense.v1.PruneMessagesRequest) request,
              (io.grpc.stub.StreamObserver<io.condense.v1.PruneMessagesResponse>) responseObserver);
          break;
        case METHODID_FLUSH_BATCHES:
          serviceImpl.flushBatches((io.condense.v1.FlushBatchesRequest) request,
              (io.grpc.stub.StreamObserver<io.condense.v1.FlushBatchesResponse>) responseObserver);
          break;
        case METHODID_QUERY_TOOL_CALL:
          serviceImpl.queryToolCall((io.condense.v1.QueryToolCallRequest) request,
              (io.grpc.stub.StreamObserver<io.condense.v1.QueryToolCallResponse>) responseObserver);
          break;
        case METHODID_READ_TOOL_RESULT:
          serviceImpl.readToolResult((io.condense.v1.ReadToolResultRequest) request,
              (io.grpc.stub.StreamObserver<io.condense.v1.ReadToolResultResponse>) responseObserver);
          break;
        case METHODID_SEARCH_TOOL_CALLS:
          serviceImpl.searchToolCalls((io.condense.v1.SearchToolCallsRequest) request,
              (io.grpc.stub.StreamObserver<io.condense.v1.SearchToolCallsResponse>) responseObserver);
          break;
        case METHODID_GET_DIAGNOSTICS:
          serviceImpl.getDiagnostics((io.condense.v1.GetDiagnosticsRequest) request,
              (io.grpc.stub.StreamObserver<io.condense.v1.GetDiagnosticsResponse>) responseObserver);
          break;
        case METHODID_COMPACT_CHAINS:
          serviceImpl.compactChains((io.condense.v1.CompactChainsRequest) request,
              (io.grpc.stub.StreamObserver<io.condense.v1.CompactChainsResponse>) responseObserver);
          break;
        default:
          throw new AssertionError();
      }
    }

    @java.lang.Override
    @java.lang.SuppressWarnings("unchecked")
    public io.grpc.stub.StreamObserver<Req> invoke(
        io.grpc.stub.StreamObserver<Resp> responseObserver) {
      switch (methodId) {
        case METHODID_APPEND_MESSAGES:
          return (io.grpc.stub.StreamObserver<Req>) serviceImpl.appendMessages(
              (io.grpc.stub.StreamObserver<io.condense.v1.AppendMessagesResponse>) responseObserver);
        default:
          throw new AssertionError();
      }
    }
  }

  public static final io.grpc.ServerServiceDefinition bindService(AsyncService service) {
    return io.grpc.ServerServiceDefinition.builder(getServiceDescriptor())
        .addMethod(
          getPruneMessagesMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.condense.v1.PruneMessagesRequest,
              io.condense.v1.PruneMessagesResponse>(
                service, METHODID_PRUNE_MESSAGES)))
        .addMethod(
          getFlushBatchesMethod(),
          io.grpc.stub.ServerCalls.asyncServerStreamingCall(
            new MethodHandlers<
              io.condense.v1.FlushBatchesRequest,
              io.condense.v1.FlushBatchesResponse>(
                service, METHODID_FLUSH_BATCHES)))
        .addMethod(
          getQueryToolCallMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.condense.v1.QueryToolCallRequest,
              io.condense.v1.QueryToolCallResponse>(
                service, METHODID_QUERY_TOOL_CALL)))
        .addMethod(
          getReadToolResultMethod(),
          io.grpc.stub.ServerCalls.asyncServerStreamingCall(
            new MethodHandlers<
              io.condense.v1.ReadToolResultRequest,
              io.condense.v1.ReadToolResultResponse>(
                service, METHODID_READ_TOOL_RESULT)))
        .addMethod(
          getSearchToolCallsMethod(),
          io.grpc.stub.ServerCalls.asyncServerStreamingCall(
            new MethodHandlers<
              io.condense.v1.SearchToolCallsRequest,
              io.condense.v1.SearchToolCallsResponse>(
                service, METHODID_SEARCH_TOOL_CALLS)))
        .addMethod(
          getGetDiagnosticsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.condense.v1.GetDiagnosticsRequest,
              io.condense.v1.GetDiagnosticsResponse>(
                service, METHODID_GET_DIAGNOSTICS)))
        .addMethod(
          getAppendMessagesMethod(),
          io.grpc.stub.ServerCalls.asyncClientStreamingCall(
            new MethodHandlers<
              io.condense.v1.AppendMessagesRequest,
              io.condense.v1.AppendMessagesResponse>(
                service, METHODID_APPEND_MESSAGES)))
        .addMethod(
          getCompactChainsMethod(),
          io.grpc.stub.ServerCalls.asyncServerStreamingCall(
            new MethodHandlers<
              io.condense.v1.CompactChainsRequest,
              io.condense.v1.CompactChainsResponse>(
                service, METHODID_COMPACT_CHAINS)))
        .build();
  }

  private static abstract class CondenseServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    CondenseServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return io.condense.v1.CondenseServiceOuterClass.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("CondenseService");
    }
  }

  private static final class CondenseServiceFileDescriptorSupplier
      extends CondenseServiceBaseDescriptorSupplier {
    CondenseServiceFileDescriptorSupplier() {}
  }

  private static final class CondenseServiceMethodDescriptorSupplier
      extends CondenseServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    CondenseServiceMethodDescriptorSupplier(java.lang.String methodName) {
      this.methodName = methodName;
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.MethodDescriptor getMethodDescriptor() {
      return getServiceDescriptor().findMethodByName(methodName);
    }
  }

  private static volatile io.grpc.ServiceDescriptor serviceDescriptor;

  public static io.grpc.ServiceDescriptor getServiceDescriptor() {
    io.grpc.ServiceDescriptor result = serviceDescriptor;
    if (result == null) {
      synchronized (CondenseServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new CondenseServiceFileDescriptorSupplier())
              .addMethod(getPruneMessagesMethod())
              .addMethod(getFlushBatchesMethod())
              .addMethod(getQueryToolCallMethod())
              .addMethod(getReadToolResultMethod())
              .addMethod(getSearchToolCallsMethod())
              .addMethod(getGetDiagnosticsMethod())
              .addMethod(getAppendMessagesMethod())
              .addMethod(getCompactChainsMethod())
              .build();
        }
      }
    }
    return result;
  }
}

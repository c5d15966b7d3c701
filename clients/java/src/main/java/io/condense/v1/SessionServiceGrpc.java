package io.condense.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * Manages sessions.
 * An agent that lets `PruneMessages` create its session needs none of this. For the errors that every call can
 * fail with see `CondenseService`.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class SessionServiceGrpc {

  private SessionServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "condense.v1.SessionService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<io.condense.v1.CreateSessionRequest,
      io.condense.v1.CreateSessionResponse> getCreateSessionMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "CreateSession",
      requestType = io.condense.v1.CreateSessionRequest.class,
      responseType = io.condense.v1.CreateSessionResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.condense.v1.CreateSessionRequest,
      io.condense.v1.CreateSessionResponse> getCreateSessionMethod() {
    io.grpc.MethodDescriptor<io.condense.v1.CreateSessionRequest, io.condense.v1.CreateSessionResponse> getCreateSessionMethod;
    if ((getCreateSessionMethod = SessionServiceGrpc.getCreateSessionMethod) == null) {
      synchronized (SessionServiceGrpc.class) {
        if ((getCreateSessionMethod = SessionServiceGrpc.getCreateSessionMethod) == null) {
          SessionServiceGrpc.getCreateSessionMethod = getCreateSessionMethod =
              io.grpc.MethodDescriptor.<io.condense.v1.CreateSessionRequest, io.condense.v1.CreateSessionResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "CreateSession"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.CreateSessionRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.CreateSessionResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SessionServiceMethodDescriptorSupplier("CreateSession"))
              .build();
        }
      }
    }
    return getCreateSessionMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.condense.v1.GetSessionRequest,
      io.condense.v1.GetSessionResponse> getGetSessionMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetSession",
      requestType = io.condense.v1.GetSessionRequest.class,
      responseType = io.condense.v1.GetSessionResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.condense.v1.GetSessionRequest,
      io.condense.v1.GetSessionResponse> getGetSessionMethod() {
    io.grpc.MethodDescriptor<io.condense.v1.GetSessionRequest, io.condense.v1.GetSessionResponse> getGetSessionMethod;
    if ((getGetSessionMethod = SessionServiceGrpc.getGetSessionMethod) == null) {
      synchronized (SessionServiceGrpc.class) {
        if ((getGetSessionMethod = SessionServiceGrpc.getGetSessionMethod) == null) {
          SessionServiceGrpc.getGetSessionMethod = getGetSessionMethod =
              io.grpc.MethodDescriptor.<io.condense.v1.GetSessionRequest, io.condense.v1.GetSessionResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetSession"))
              .setSafe(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.GetSessionRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.GetSessionResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SessionServiceMethodDescriptorSupplier("GetSession"))
              .build();
        }
      }
    }
    return getGetSessionMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.condense.v1.ListSessionsRequest,
      io.condense.v1.ListSessionsResponse> getListSessionsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListSessions",
      requestType = io.condense.v1.ListSessionsRequest.class,
      responseType = io.condense.v1.ListSessionsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.condense.v1.ListSessionsRequest,
      io.condense.v1.ListSessionsResponse> getListSessionsMethod() {
    io.grpc.MethodDescriptor<io.condense.v1.ListSessionsRequest, io.condense.v1.ListSessionsResponse> getListSessionsMethod;
    if ((getListSessionsMethod = SessionServiceGrpc.getListSessionsMethod) == null) {
      synchronized (SessionServiceGrpc.class) {
        if ((getListSessionsMethod = SessionServiceGrpc.getListSessionsMethod) == null) {
          SessionServiceGrpc.getListSessionsMethod = getListSessionsMethod =
              io.grpc.MethodDescriptor.<io.condense.v1.ListSessionsRequest, io.condense.v1.ListSessionsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListSessions"))
              .setSafe(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.ListSessionsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.ListSessionsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SessionServiceMethodDescriptorSupplier("ListSessions"))
              .build();
        }
      }
    }
    return getListSessionsMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.condense.v1.UpdateSessionRequest,
      io.condense.v1.UpdateSessionResponse> getUpdateSessionMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "UpdateSession",
      requestType = io.condense.v1.UpdateSessionRequest.class,
      responseType = io.condense.v1.UpdateSessionResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.condense.v1.UpdateSessionRequest,
      io.condense.v1.UpdateSessionResponse> getUpdateSessionMethod() {
    io.grpc.MethodDescriptor<io.condense.v1.UpdateSessionRequest, io.condense.v1.UpdateSessionResponse> getUpdateSessionMethod;
    if ((getUpdateSessionMethod = SessionServiceGrpc.getUpdateSessionMethod) == null) {
      synchronized (SessionServiceGrpc.class) {
        if ((getUpdateSessionMethod = SessionServiceGrpc.getUpdateSessionMethod) == null) {
          SessionServiceGrpc.getUpdateSessionMethod = getUpdateSessionMethod =
              io.grpc.MethodDescriptor.<io.condense.v1.UpdateSessionRequest, io.condense.v1.UpdateSessionResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "UpdateSession"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.UpdateSessionRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.UpdateSessionResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SessionServiceMethodDescriptorSupplier("UpdateSession"))
              .build();
        }
      }
    }
    return getUpdateSessionMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.condense.v1.DeleteSessionRequest,
      io.condense.v1.DeleteSessionResponse> getDeleteSessionMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "DeleteSession",
      requestType = io.condense.v1.DeleteSessionRequest.class,
      responseType = io.condense.v1.DeleteSessionResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.condense.v1.DeleteSessionRequest,
      io.condense.v1.DeleteSessionResponse> getDeleteSessionMethod() {
    io.grpc.MethodDescriptor<io.condense.v1.DeleteSessionRequest, io.condense.v1.DeleteSessionResponse> getDeleteSessionMethod;
    if ((getDeleteSessionMethod = SessionServiceGrpc.getDeleteSessionMethod) == null) {
      synchronized (SessionServiceGrpc.class) {
        if ((getDeleteSessionMethod = SessionServiceGrpc.getDeleteSessionMethod) == null) {
          SessionServiceGrpc.getDeleteSessionMethod = getDeleteSessionMethod =
              io.grpc.MethodDescriptor.<io.condense.v1.DeleteSessionRequest, io.condense.v1.DeleteSessionResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "DeleteSession"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.DeleteSessionRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.DeleteSessionResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SessionServiceMethodDescriptorSupplier("DeleteSession"))
              .build();
        }
      }
    }
    return getDeleteSessionMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.condense.v1.ForkSessionRequest,
      io.condense.v1.ForkSessionResponse> getForkSessionMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ForkSession",
      requestType = io.condense.v1.ForkSessionRequest.class,
      responseType = io.condense.v1.ForkSessionResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.condense.v1.ForkSessionRequest,
      io.condense.v1.ForkSessionResponse> getForkSessionMethod() {
    io.grpc.MethodDescriptor<io.condense.v1.ForkSessionRequest, io.condense.v1.ForkSessionResponse> getForkSessionMethod;
    if ((getForkSessionMethod = SessionServiceGrpc.getForkSessionMethod) == null) {
      synchronized (SessionServiceGrpc.class) {
        if ((getForkSessionMethod = SessionServiceGrpc.getForkSessionMethod) == null) {
          SessionServiceGrpc.getForkSessionMethod = getForkSessionMethod =
              io.grpc.MethodDescriptor.<io.condense.v1.ForkSessionRequest, io.condense.v1.ForkSessionResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ForkSession"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.ForkSessionRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.ForkSessionResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SessionServiceMethodDescriptorSupplier("ForkSession"))
              .build();
        }
      }
    }
    return getForkSessionMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.condense.v1.ListToolCallsRequest,
      io.condense.v1.ListToolCallsResponse> getListToolCallsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListToolCalls",
      requestType = io.condense.v1.ListToolCallsRequest.class,
      responseType = io.condense.v1.ListToolCallsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.condense.v1.ListToolCallsRequest,
      io.condense.v1.ListToolCallsResponse> getListToolCallsMethod() {
    io.grpc.MethodDescriptor<io.condense.v1.ListToolCallsRequest, io.condense.v1.ListToolCallsResponse> getListToolCallsMethod;
    if ((getListToolCallsMethod = SessionServiceGrpc.getListToolCallsMethod) == null) {
      synchronized (SessionServiceGrpc.class) {
        if ((getListToolCallsMethod = SessionServiceGrpc.getListToolCallsMethod) == null) {
          SessionServiceGrpc.getListToolCallsMethod = getListToolCallsMethod =
              io.grpc.MethodDescriptor.<io.condense.v1.ListToolCallsRequest, io.condense.v1.ListToolCallsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListToolCalls"))
              .setSafe(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.ListToolCallsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.ListToolCallsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SessionServiceMethodDescriptorSupplier("ListToolCalls"))
              .build();
        }
      }
    }
    return getListToolCallsMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.condense.v1.ListSummariesRequest,
      io.condense.v1.ListSummariesResponse> getListSummariesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListSummaries",
      requestType = io.condense.v1.ListSummariesRequest.class,
      responseType = io.condense.v1.ListSummariesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.condense.v1.ListSummariesRequest,
      io.condense.v1.ListSummariesResponse> getListSummariesMethod() {
    io.grpc.MethodDescriptor<io.condense.v1.ListSummariesRequest, io.condense.v1.ListSummariesResponse> getListSummariesMethod;
    if ((getListSummariesMethod = SessionServiceGrpc.getListSummariesMethod) == null) {
      synchronized (SessionServiceGrpc.class) {
        if ((getListSummariesMethod = SessionServiceGrpc.getListSummariesMethod) == null) {
          SessionServiceGrpc.getListSummariesMethod = getListSummariesMethod =
              io.grpc.MethodDescriptor.<io.condense.v1.ListSummariesRequest, io.condense.v1.ListSummariesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListSummaries"))
              .setSafe(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.ListSummariesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.ListSummariesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SessionServiceMethodDescriptorSupplier("ListSummaries"))
              .build();
        }
      }
    }
    return getListSummariesMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.condense.v1.WatchSessionRequest,
      io.condense.v1.WatchSessionResponse> getWatchSessionMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "WatchSession",
      requestType = io.condense.v1.WatchSessionRequest.class,
      responseType = io.condense.v1.WatchSessionResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
  public static io.grpc.MethodDescriptor<io.condense.v1.WatchSessionRequest,
      io.condense.v1.WatchSessionResponse> getWatchSessionMethod() {
    io.grpc.MethodDescriptor<io.condense.v1.WatchSessionRequest, io.condense.v1.WatchSessionResponse> getWatchSessionMethod;
    if ((getWatchSessionMethod = SessionServiceGrpc.getWatchSessionMethod) == null) {
      synchronized (SessionServiceGrpc.class) {
        if ((getWatchSessionMethod = SessionServiceGrpc.getWatchSessionMethod) == null) {
          SessionServiceGrpc.getWatchSessionMethod = getWatchSessionMethod =
              io.grpc.MethodDescriptor.<io.condense.v1.WatchSessionRequest, io.condense.v1.WatchSessionResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "WatchSession"))
              .setSafe(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.WatchSessionRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.WatchSessionResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SessionServiceMethodDescriptorSupplier("WatchSession"))
              .build();
        }
      }
    }
    return getWatchSessionMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.condense.v1.ExportSessionRequest,
      io.condense.v1.ExportSessionResponse> getExportSessionMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ExportSession",
      requestType = io.condense.v1.ExportSessionRequest.class,
      responseType = io.condense.v1.ExportSessionResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
  public static io.grpc.MethodDescriptor<io.condense.v1.ExportSessionRequest,
      io.condense.v1.ExportSessionResponse> getExportSessionMethod() {
    io.grpc.MethodDescriptor<io.condense.v1.ExportSessionRequest, io.condense.v1.ExportSessionResponse> getExportSessionMethod;
    if ((getExportSessionMethod = SessionServiceGrpc.getExportSessionMethod) == null) {
      synchronized (SessionServiceGrpc.class) {
        if ((getExportSessionMethod = SessionServiceGrpc.getExportSessionMethod) == null) {
          SessionServiceGrpc.getExportSessionMethod = getExportSessionMethod =
              io.grpc.MethodDescriptor.<io.condense.v1.ExportSessionRequest, io.condense.v1.ExportSessionResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ExportSession"))
              .setSafe(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.ExportSessionRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.ExportSessionResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SessionServiceMethodDescriptorSupplier("ExportSession"))
              .build();
        }
      }
    }
    return getExportSessionMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.condense.v1.ImportSessionRequest,
      io.condense.v1.ImportSessionResponse> getImportSessionMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ImportSession",
      requestType = io.condense.v1.ImportSessionRequest.class,
      responseType = io.condense.v1.ImportSessionResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.CLIENT_STREAMING)
  public static io.grpc.MethodDescriptor<io.condense.v1.ImportSessionRequest,
      io.condense.v1.ImportSessionResponse> getImportSessionMethod() {
    io.grpc.MethodDescriptor<io.condense.v1.ImportSessionRequest, io.condense.v1.ImportSessionResponse> getImportSessionMethod;
    if ((getImportSessionMethod = SessionServiceGrpc.getImportSessionMethod) == null) {
      synchronized (SessionServiceGrpc.class) {
        if ((getImportSessionMethod = SessionServiceGrpc.getImportSessionMethod) == null) {
          SessionServiceGrpc.getImportSessionMethod = getImportSessionMethod =
              io.grpc.MethodDescriptor.<io.condense.v1.ImportSessionRequest, io.condense.v1.ImportSessionResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.CLIENT_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ImportSession"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.ImportSessionRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.ImportSessionResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SessionServiceMethodDescriptorSupplier("ImportSession"))
              .build();
        }
      }
    }
    return getImportSessionMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.condense.v1.RecordUsageRequest,
      io.condense.v1.RecordUsageResponse> getRecordUsageMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "RecordUsage",
      requestType = io.condense.v1.RecordUsageRequest.class,
      responseType = io.condense.v1.RecordUsageResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.condense.v1.RecordUsageRequest,
      io.condense.v1.RecordUsageResponse> getRecordUsageMethod() {
    io.grpc.MethodDescriptor<io.condense.v1.RecordUsageRequest, io.condense.v1.RecordUsageResponse> getRecordUsageMethod;
    if ((getRecordUsageMethod = SessionServiceGrpc.getRecordUsageMethod) == null) {
      synchronized (SessionServiceGrpc.class) {
        if ((getRecordUsageMethod = SessionServiceGrpc.getRecordUsageMethod) == null) {
          SessionServiceGrpc.getRecordUsageMethod = getRecordUsageMethod =
              io.grpc.MethodDescriptor.<io.condense.v1.RecordUsageRequest, io.condense.v1.RecordUsageResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "RecordUsage"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.RecordUsageRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.RecordUsageResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SessionServiceMethodDescriptorSupplier("RecordUsage"))
              .build();
        }
      }
    }
    return getRecordUsageMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.condense.v1.PinToolCallsRequest,
      io.condense.v1.PinToolCallsResponse> getPinToolCallsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "PinToolCalls",
      requestType = io.condense.v1.PinToolCallsRequest.class,
      responseType = io.condense.v1.PinToolCallsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.condense.v1.PinToolCallsRequest,
      io.condense.v1.PinToolCallsResponse> getPinToolCallsMethod() {
    io.grpc.MethodDescriptor<io.condense.v1.PinToolCallsRequest, io.condense.v1.PinToolCallsResponse> getPinToolCallsMethod;
    if ((getPinToolCallsMethod = SessionServiceGrpc.getPinToolCallsMethod) == null) {
      synchronized (SessionServiceGrpc.class) {
        if ((getPinToolCallsMethod = SessionServiceGrpc.getPinToolCallsMethod) == null) {
          SessionServiceGrpc.getPinToolCallsMethod = getPinToolCallsMethod =
              io.grpc.MethodDescriptor.<io.condense.v1.PinToolCallsRequest, io.condense.v1.PinToolCallsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "PinToolCalls"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.PinToolCallsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.PinToolCallsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SessionServiceMethodDescriptorSupplier("PinToolCalls"))
              .build();
        }
      }
    }
    return getPinToolCallsMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static SessionServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<SessionServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<SessionServiceStub>() {
        @java.lang.Override
        public SessionServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new SessionServiceStub(channel, callOptions);
        }
      };
    return SessionServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static SessionServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<SessionServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<SessionServiceBlockingV2Stub>() {
        @java.lang.Override
        public SessionServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new SessionServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return SessionServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static SessionServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<SessionServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<SessionServiceBlockingStub>() {
        @java.lang.Override
        public SessionServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new SessionServiceBlockingStub(channel, callOptions);
        }
      };
    return SessionServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static SessionServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<SessionServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<SessionServiceFutureStub>() {
        @java.lang.Override
        public SessionServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new SessionServiceFutureStub(channel, callOptions);
        }
      };
    return SessionServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * Manages sessions.
   * An agent that lets `PruneMessages` create its session needs none of this. For the errors that every call can
   * fail with see `CondenseService`.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * Creates an empty session.
     * On repeat: with the same `request_id` the answer to the first request comes again, as long as the session exists.
     * Without one the call is not safe to repeat: an id that was chosen is taken then, and without an id there is a
     * second session.
     * Errors:
     *  * `ALREADY_EXISTS` `SESSION_ALREADY_EXISTS`: use that session, or choose another id.
     *  * `INVALID_ARGUMENT` `SESSION_ID_INVALID`, `CONFIG_INVALID`, `SUMMARIZER_UNKNOWN`: correct the request.
     *  * `RESOURCE_EXHAUSTED` `QUOTA_EXCEEDED`: delete sessions, or raise the limit of the server.
     * </pre>
     */
    default void createSession(io.condense.v1.CreateSessionRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.CreateSessionResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCreateSessionMethod(), responseObserver);
    }

    /**
     * <pre>
     * Returns one session.
     * On repeat: the same, unless the session has changed.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     * </pre>
     */
    default void getSession(io.condense.v1.GetSessionRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.GetSessionResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetSessionMethod(), responseObserver);
    }

    /**
     * <pre>
     * Lists sessions, page by page, by id in the order of code points.
     * A session that is there all the while is shown exactly once; one that is created, changed or deleted meanwhile
     * may be shown or not.
     * On repeat: the same page, unless sessions have changed.
     * Errors:
     *  * `INVALID_ARGUMENT` `PAGE_TOKEN_INVALID`: begin again with an empty token.
     * </pre>
     */
    default void listSessions(io.condense.v1.ListSessionsRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.ListSessionsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListSessionsMethod(), responseObserver);
    }

    /**
     * <pre>
     * Changes configuration and labels of a session, all or nothing. A change takes effect with the next call; a
     * running flush goes on with what it has started with.
     * On repeat: nothing more changes.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `INVALID_ARGUMENT` `CONFIG_INVALID`, `SUMMARIZER_UNKNOWN`: correct the value that the violations name.
     *  * `INVALID_ARGUMENT` `REQUEST_INVALID`: the mask names something that does not exist or cannot be changed.
     * </pre>
     */
    default void updateSession(io.condense.v1.UpdateSessionRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.UpdateSessionResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getUpdateSessionMethod(), responseObserver);
    }

    /**
     * <pre>
     * Removes a session and everything of it: transcript, archive, decisions, events. A running flush is stopped first.
     * Nothing of it can be brought back.
     * On repeat: with `allow_missing` succeeds with `deleted` false, else `SESSION_NOT_FOUND`; the session is gone
     * either way.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: there is none; set `allow_missing` if that is fine.
     * </pre>
     */
    default void deleteSession(io.condense.v1.DeleteSessionRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.DeleteSessionResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getDeleteSessionMethod(), responseObserver);
    }

    /**
     * <pre>
     * Copies a session up to a base: its messages, the decisions taken up to there, and its configuration. From then on
     * the two are independent. Refs mean the same in both. Diagnostics start at zero.
     * On repeat: as with `CreateSession`.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `FAILED_PRECONDITION` `TRANSCRIPT_MISMATCH`: the transcript is shorter than the base, or its etag there
     *    differs.
     *  * `ALREADY_EXISTS` `SESSION_ALREADY_EXISTS`: choose another id for the copy.
     *  * `INVALID_ARGUMENT` `SESSION_ID_INVALID`: correct the id of the copy.
     *  * `RESOURCE_EXHAUSTED` `QUOTA_EXCEEDED`: delete sessions, or raise the limit of the server.
     * </pre>
     */
    default void forkSession(io.condense.v1.ForkSessionRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.ForkSessionResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getForkSessionMethod(), responseObserver);
    }

    /**
     * <pre>
     * Lists the tool calls of a session, page by page, grouped by the summary that covers them: the data of a tree
     * view.
     * On repeat: the same page, unless the session has changed.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `INVALID_ARGUMENT` `PAGE_TOKEN_INVALID`: begin again with an empty token.
     * </pre>
     */
    default void listToolCalls(io.condense.v1.ListToolCallsRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.ListToolCallsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListToolCallsMethod(), responseObserver);
    }

    /**
     * <pre>
     * Lists the summaries and the blocks of a session, page by page, oldest first.
     * On repeat: the same page, unless the session has changed.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `INVALID_ARGUMENT` `PAGE_TOKEN_INVALID`: begin again with an empty token.
     * </pre>
     */
    default void listSummaries(io.condense.v1.ListSummariesRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.ListSummariesResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListSummariesMethod(), responseObserver);
    }

    /**
     * <pre>
     * Streams what happens to a session, until the client goes away or the session is deleted. Watching never slows a
     * session down: a reader that is too slow gets an `EventGap` in place of what it has missed.
     * On repeat: with the cursor of the last event the stream goes on behind it.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `INVALID_ARGUMENT` `PAGE_TOKEN_INVALID`: the cursor is not one of this session; watch from now on.
     *  * `UNAVAILABLE` `SHUTTING_DOWN`: the server stops; watch again with the cursor.
     * </pre>
     */
    default void watchSession(io.condense.v1.WatchSessionRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.WatchSessionResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getWatchSessionMethod(), responseObserver);
    }

    /**
     * <pre>
     * Streams a session as a Pi session file, which a Pi host with a pruner of this kind, or `ImportSession`, takes
     * over with everything that was decided. It is the state at the start of the call.
     * On repeat: the same file, unless the session has changed.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     * </pre>
     */
    default void exportSession(io.condense.v1.ExportSessionRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.ExportSessionResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getExportSessionMethod(), responseObserver);
    }

    /**
     * <pre>
     * Makes a session out of a Pi session file. Only its active branch is taken over: the path to its last entry.
     * Nothing is created before the client has closed its side; lines that cannot be read are left out and counted.
     * On repeat: as with `CreateSession`.
     * Errors:
     *  * `INVALID_ARGUMENT` `NATIVE_JSON_INVALID`: the file does not begin with the header of a session.
     *  * `INVALID_ARGUMENT` `REQUEST_INVALID`: the stream does not begin with the `ImportHeader`, or has two, or names
     *    a format that Pi sessions are not in.
     *  * `INVALID_ARGUMENT` `SESSION_ID_INVALID`, `CONFIG_INVALID`, `SUMMARIZER_UNKNOWN`: correct the header.
     *  * `INVALID_ARGUMENT` `DELTA_TOO_LARGE`: the stream is longer than `GetCapabilities` allows.
     *  * `ALREADY_EXISTS` `SESSION_ALREADY_EXISTS`: choose another id.
     *  * `RESOURCE_EXHAUSTED` `QUOTA_EXCEEDED`: delete sessions, or raise the limit of the server.
     * </pre>
     */
    default io.grpc.stub.StreamObserver<io.condense.v1.ImportSessionRequest> importSession(
        io.grpc.stub.StreamObserver<io.condense.v1.ImportSessionResponse> responseObserver) {
      return io.grpc.stub.ServerCalls.asyncUnimplementedStreamingCall(getImportSessionMethod(), responseObserver);
    }

    /**
     * <pre>
     * Reports the usage of the host's last request to the model and judges the budget triggers by it. If one fires and
     * something is pending, the server starts a flush in the background. Every report becomes the baseline of the next
     * one. `PruneMessages` takes the same report along.
     * On repeat: the baseline is the same, so the delta trigger does not fire again.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     * </pre>
     */
    default void recordUsage(io.condense.v1.RecordUsageRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.RecordUsageResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getRecordUsageMethod(), responseObserver);
    }

    /**
     * <pre>
     * Keeps results verbatim from the next view on, also if they are summarized already, and keeps flushes from taking
     * them; or ends that. A result that was dropped with a compressed chain comes back inside of its block only if the
     * chain is compressed after the pin.
     * On repeat: nothing more changes, but a lifetime counts from the last call.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id. (Unknown refs are listed in the answer.)
     *  * `INVALID_ARGUMENT` `REQUEST_INVALID`: the lifetime is not above 0, or there are too many refs.
     * </pre>
     */
    default void pinToolCalls(io.condense.v1.PinToolCallsRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.PinToolCallsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getPinToolCallsMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service SessionService.
   * <pre>
   * Manages sessions.
   * An agent that lets `PruneMessages` create its session needs none of this. For the errors that every call can
   * fail with see `CondenseService`.
   * </pre>
   */
  public static abstract class SessionServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return SessionServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service SessionService.
   * <pre>
   * Manages sessions.
   * An agent that lets `PruneMessages` create its session needs none of this. For the errors that every call can
   * fail with see `CondenseService`.
   * </pre>
   */
  public static final class SessionServiceStub
      extends io.grpc.stub.AbstractAsyncStub<SessionServiceStub> {
    private SessionServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected SessionServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new SessionServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * Creates an empty session.
     * On repeat: with the same `request_id` the answer to the first request comes again, as long as the session exists.
     * Without one the call is not safe to repeat: an id that was chosen is taken then, and without an id there is a
     * second session.
     * Errors:
     *  * `ALREADY_EXISTS` `SESSION_ALREADY_EXISTS`: use that session, or choose another id.
     *  * `INVALID_ARGUMENT` `SESSION_ID_INVALID`, `CONFIG_INVALID`, `SUMMARIZER_UNKNOWN`: correct the request.
     *  * `RESOURCE_EXHAUSTED` `QUOTA_EXCEEDED`: delete sessions, or raise the limit of the server.
     * </pre>
     */
    public void createSession(io.condense.v1.CreateSessionRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.CreateSessionResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCreateSessionMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Returns one session.
     * On repeat: the same, unless the session has changed.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     * </pre>
     */
    public void getSession(io.condense.v1.GetSessionRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.GetSessionResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetSessionMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Lists sessions, page by page, by id in the order of code points.
     * A session that is there all the while is shown exactly once; one that is created, changed or deleted meanwhile
     * may be shown or not.
     * On repeat: the same page, unless sessions have changed.
     * Errors:
     *  * `INVALID_ARGUMENT` `PAGE_TOKEN_INVALID`: begin again with an empty token.
     * </pre>
     */
    public void listSessions(io.condense.v1.ListSessionsRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.ListSessionsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListSessionsMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Changes configuration and labels of a session, all or nothing. A change takes effect with the next call; a
     * running flush goes on with what it has started with.
     * On repeat: nothing more changes.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `INVALID_ARGUMENT` `CONFIG_INVALID`, `SUMMARIZER_UNKNOWN`: correct the value that the violations name.
     *  * `INVALID_ARGUMENT` `REQUEST_INVALID`: the mask names something that does not exist or cannot be changed.
     * </pre>
     */
    public void updateSession(io.condense.v1.UpdateSessionRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.UpdateSessionResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getUpdateSessionMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Removes a session and everything of it: transcript, archive, decisions, events. A running flush is stopped first.
     * Nothing of it can be brought back.
     * On repeat: with `allow_missing` succeeds with `deleted` false, else `SESSION_NOT_FOUND`; the session is gone
     * either way.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: there is none; set `allow_missing` if that is fine.
     * </pre>
     */
    public void deleteSession(io.condense.v1.DeleteSessionRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.DeleteSessionResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getDeleteSessionMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Copies a session up to a base: its messages, the decisions taken up to there, and its configuration. From then on
     * the two are independent. Refs mean the same in both. Diagnostics start at zero.
     * On repeat: as with `CreateSession`.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `FAILED_PRECONDITION` `TRANSCRIPT_MISMATCH`: the transcript is shorter than the base, or its etag there
     *    differs.
     *  * `ALREADY_EXISTS` `SESSION_ALREADY_EXISTS`: choose another id for the copy.
     *  * `INVALID_ARGUMENT` `SESSION_ID_INVALID`: correct the id of the copy.
     *  * `RESOURCE_EXHAUSTED` `QUOTA_EXCEEDED`: delete sessions, or raise the limit of the server.
     * </pre>
     */
    public void forkSession(io.condense.v1.ForkSessionRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.ForkSessionResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getForkSessionMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Lists the tool calls of a session, page by page, grouped by the summary that covers them: the data of a tree
     * view.
     * On repeat: the same page, unless the session has changed.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `INVALID_ARGUMENT` `PAGE_TOKEN_INVALID`: begin again with an empty token.
     * </pre>
     */
    public void listToolCalls(io.condense.v1.ListToolCallsRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.ListToolCallsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListToolCallsMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Lists the summaries and the blocks of a session, page by page, oldest first.
     * On repeat: the same page, unless the session has changed.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `INVALID_ARGUMENT` `PAGE_TOKEN_INVALID`: begin again with an empty token.
     * </pre>
     */
    public void listSummaries(io.condense.v1.ListSummariesRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.ListSummariesResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListSummariesMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Streams what happens to a session, until the client goes away or the session is deleted. Watching never slows a
     * session down: a reader that is too slow gets an `EventGap` in place of what it has missed.
     * On repeat: with the cursor of the last event the stream goes on behind it.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `INVALID_ARGUMENT` `PAGE_TOKEN_INVALID`: the cursor is not one of this session; watch from now on.
     *  * `UNAVAILABLE` `SHUTTING_DOWN`: the server stops; watch again with the cursor.
     * </pre>
     */
    public void watchSession(io.condense.v1.WatchSessionRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.WatchSessionResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncServerStreamingCall(
          getChannel().newCall(getWatchSessionMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Streams a session as a Pi session file, which a Pi host with a pruner of this kind, or `ImportSession`, takes
     * over with everything that was decided. It is the state at the start of the call.
     * On repeat: the same file, unless the session has changed.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     * </pre>
     */
    public void exportSession(io.condense.v1.ExportSessionRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.ExportSessionResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncServerStreamingCall(
          getChannel().newCall(getExportSessionMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Makes a session out of a Pi session file. Only its active branch is taken over: the path to its last entry.
     * Nothing is created before the client has closed its side; lines that cannot be read are left out and counted.
     * On repeat: as with `CreateSession`.
     * Errors:
     *  * `INVALID_ARGUMENT` `NATIVE_JSON_INVALID`: the file does not begin with the header of a session.
     *  * `INVALID_ARGUMENT` `REQUEST_INVALID`: the stream does not begin with the `ImportHeader`, or has two, or names
     *    a format that Pi sessions are not in.
     *  * `INVALID_ARGUMENT` `SESSION_ID_INVALID`, `CONFIG_INVALID`, `SUMMARIZER_UNKNOWN`: correct the header.
     *  * `INVALID_ARGUMENT` `DELTA_TOO_LARGE`: the stream is longer than `GetCapabilities` allows.
     *  * `ALREADY_EXISTS` `SESSION_ALREADY_EXISTS`: choose another id.
     *  * `RESOURCE_EXHAUSTED` `QUOTA_EXCEEDED`: delete sessions, or raise the limit of the server.
     * </pre>
     */
    public io.grpc.stub.StreamObserver<io.condense.v1.ImportSessionRequest> importSession(
        io.grpc.stub.StreamObserver<io.condense.v1.ImportSessionResponse> responseObserver) {
      return io.grpc.stub.ClientCalls.asyncClientStreamingCall(
          getChannel().newCall(getImportSessionMethod(), getCallOptions()), responseObserver);
    }

    /**
     * <pre>
     * Reports the usage of the host's last request to the model and judges the budget triggers by it. If one fires and
     * something is pending, the server starts a flush in the background. Every report becomes the baseline of the next
     * one. `PruneMessages` takes the same report along.
     * On repeat: the baseline is the same, so the delta trigger does not fire again.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     * </pre>
     */
    public void recordUsage(io.condense.v1.RecordUsageRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.RecordUsageResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getRecordUsageMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Keeps results verbatim from the next view on, also if they are summarized already, and keeps flushes from taking
     * them; or ends that. A result that was dropped with a compressed chain comes back inside of its block only if the
     * chain is compressed after the pin.
     * On repeat: nothing more changes, but a lifetime counts from the last call.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id. (Unknown refs are listed in the answer.)
     *  * `INVALID_ARGUMENT` `REQUEST_INVALID`: the lifetime is not above 0, or there are too many refs.
     * </pre>
     */
    public void pinToolCalls(io.condense.v1.PinToolCallsRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.PinToolCallsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getPinToolCallsMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service SessionService.
   * <pre>
   * Manages sessions.
   * An agent that lets `PruneMessages` create its session needs none of this. For the errors that every call can
   * fail with see `CondenseService`.
   * </pre>
   */
  public static final class SessionServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<SessionServiceBlockingV2Stub> {
    private SessionServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected SessionServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new SessionServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * Creates an empty session.
     * On repeat: with the same `request_id` the answer to the first request comes again, as long as the session exists.
     * Without one the call is not safe to repeat: an id that was chosen is taken then, and without an id there is a
     * second session.
     * Errors:
     *  * `ALREADY_EXISTS` `SESSION_ALREADY_EXISTS`: use that session, or choose another id.
     *  * `INVALID_ARGUMENT` `SESSION_ID_INVALID`, `CONFIG_INVALID`, `SUMMARIZER_UNKNOWN`: correct the request.
     *  * `RESOURCE_EXHAUSTED` `QUOTA_EXCEEDED`: delete sessions, or raise the limit of the server.
     * </pre>
     */
    public io.condense.v1.CreateSessionResponse createSession(io.condense.v1.CreateSessionRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getCreateSessionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Returns one session.
     * On repeat: the same, unless the session has changed.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     * </pre>
     */
    public io.condense.v1.GetSessionResponse getSession(io.condense.v1.GetSessionRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetSessionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists sessions, page by page, by id in the order of code points.
     * A session that is there all the while is shown exactly once; one that is created, changed or deleted meanwhile
     * may be shown or not.
     * On repeat: the same page, unless sessions have changed.
     * Errors:
     *  * `INVALID_ARGUMENT` `PAGE_TOKEN_INVALID`: begin again with an empty token.
     * </pre>
     */
    public io.condense.v1.ListSessionsResponse listSessions(io.condense.v1.ListSessionsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListSessionsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Changes configuration and labels of a session, all or nothing. A change takes effect with the next call; a
     * running flush goes on with what it has started with.
     * On repeat: nothing more changes.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `INVALID_ARGUMENT` `CONFIG_INVALID`, `SUMMARIZER_UNKNOWN`: correct the value that the violations name.
     *  * `INVALID_ARGUMENT` `REQUEST_INVALID`: the mask names something that does not exist or cannot be changed.
     * </pre>
     */
    public io.condense.v1.UpdateSessionResponse updateSession(io.condense.v1.UpdateSessionRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getUpdateSessionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Removes a session and everything of it: transcript, archive, decisions, events. A running flush is stopped first.
     * Nothing of it can be brought back.
     * On repeat: with `allow_missing` succeeds with `deleted` false, else `SESSION_NOT_FOUND`; the session is gone
     * either way.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: there is none; set `allow_missing` if that is fine.
     * </pre>
     */
    public io.condense.v1.DeleteSessionResponse deleteSession(io.condense.v1.DeleteSessionRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getDeleteSessionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Copies a session up to a base: its messages, the decisions taken up to there, and its configuration. From then on
     * the two are independent. Refs mean the same in both. Diagnostics start at zero.
     * On repeat: as with `CreateSession`.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `FAILED_PRECONDITION` `TRANSCRIPT_MISMATCH`: the transcript is shorter than the base, or its etag there
     *    differs.
     *  * `ALREADY_EXISTS` `SESSION_ALREADY_EXISTS`: choose another id for the copy.
     *  * `INVALID_ARGUMENT` `SESSION_ID_INVALID`: correct the id of the copy.
     *  * `RESOURCE_EXHAUSTED` `QUOTA_EXCEEDED`: delete sessions, or raise the limit of the server.
     * </pre>
     */
    public io.condense.v1.ForkSessionResponse forkSession(io.condense.v1.ForkSessionRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getForkSessionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists the tool calls of a session, page by page, grouped by the summary that covers them: the data of a tree
     * view.
     * On repeat: the same page, unless the session has changed.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `INVALID_ARGUMENT` `PAGE_TOKEN_INVALID`: begin again with an empty token.
     * </pre>
     */
    public io.condense.v1.ListToolCallsResponse listToolCalls(io.condense.v1.ListToolCallsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListToolCallsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists the summaries and the blocks of a session, page by page, oldest first.
     * On repeat: the same page, unless the session has changed.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `INVALID_ARGUMENT` `PAGE_TOKEN_INVALID`: begin again with an empty token.
     * </pre>
     */
    public io.condense.v1.ListSummariesResponse listSummaries(io.condense.v1.ListSummariesRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListSummariesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Streams what happens to a session, until the client goes away or the session is deleted. Watching never slows a
     * session down: a reader that is too slow gets an `EventGap` in place of what it has missed.
     * On repeat: with the cursor of the last event the stream goes on behind it.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `INVALID_ARGUMENT` `PAGE_TOKEN_INVALID`: the cursor is not one of this session; watch from now on.
     *  * `UNAVAILABLE` `SHUTTING_DOWN`: the server stops; watch again with the cursor.
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<?, io.condense.v1.WatchSessionResponse>
        watchSession(io.condense.v1.WatchSessionRequest request) {
      return io.grpc.stub.ClientCalls.blockingV2ServerStreamingCall(
          getChannel(), getWatchSessionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Streams a session as a Pi session file, which a Pi host with a pruner of this kind, or `ImportSession`, takes
     * over with everything that was decided. It is the state at the start of the call.
     * On repeat: the same file, unless the session has changed.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<?, io.condense.v1.ExportSessionResponse>
        exportSession(io.condense.v1.ExportSessionRequest request) {
      return io.grpc.stub.ClientCalls.blockingV2ServerStreamingCall(
          getChannel(), getExportSessionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Makes a session out of a Pi session file. Only its active branch is taken over: the path to its last entry.
     * Nothing is created before the client has closed its side; lines that cannot be read are left out and counted.
     * On repeat: as with `CreateSession`.
     * Errors:
     *  * `INVALID_ARGUMENT` `NATIVE_JSON_INVALID`: the file does not begin with the header of a session.
     *  * `INVALID_ARGUMENT` `REQUEST_INVALID`: the stream does not begin with the `ImportHeader`, or has two, or names
     *    a format that Pi sessions are not in.
     *  * `INVALID_ARGUMENT` `SESSION_ID_INVALID`, `CONFIG_INVALID`, `SUMMARIZER_UNKNOWN`: correct the header.
     *  * `INVALID_ARGUMENT` `DELTA_TOO_LARGE`: the stream is longer than `GetCapabilities` allows.
     *  * `ALREADY_EXISTS` `SESSION_ALREADY_EXISTS`: choose another id.
     *  * `RESOURCE_EXHAUSTED` `QUOTA_EXCEEDED`: delete sessions, or raise the limit of the server.
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<io.condense.v1.ImportSessionRequest, io.condense.v1.ImportSessionResponse>
        importSession() {
      return io.grpc.stub.ClientCalls.blockingClientStreamingCall(
          getChannel(), getImportSessionMethod(), getCallOptions());
    }

    /**
     * <pre>
     * Reports the usage of the host's last request to the model and judges the budget triggers by it. If one fires and
     * something is pending, the server starts a flush in the background. Every report becomes the baseline of the next
     * one. `PruneMessages` takes the same report along.
     * On repeat: the baseline is the same, so the delta trigger does not fire again.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     * </pre>
     */
    public io.condense.v1.RecordUsageResponse recordUsage(io.condense.v1.RecordUsageRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getRecordUsageMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Keeps results verbatim from the next view on, also if they are summarized already, and keeps flushes from taking
     * them; or ends that. A result that was dropped with a compressed chain comes back inside of its block only if the
     * chain is compressed after the pin.
     * On repeat: nothing more changes, but a lifetime counts from the last call.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id. (Unknown refs are listed in the answer.)
     *  * `INVALID_ARGUMENT` `REQUEST_INVALID`: the lifetime is not above 0, or there are too many refs.
     * </pre>
     */
    public io.condense.v1.PinToolCallsResponse pinToolCalls(io.condense.v1.PinToolCallsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getPinToolCallsMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service SessionService.
   * <pre>
   * Manages sessions.
   * An agent that lets `PruneMessages` create its session needs none of this. For the errors that every call can
   * fail with see `CondenseService`.
   * </pre>
   */
  public static final class SessionServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<SessionServiceBlockingStub> {
    private SessionServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected SessionServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new SessionServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * Creates an empty session.
     * On repeat: with the same `request_id` the answer to the first request comes again, as long as the session exists.
     * Without one the call is not safe to repeat: an id that was chosen is taken then, and without an id there is a
     * second session.
     * Errors:
     *  * `ALREADY_EXISTS` `SESSION_ALREADY_EXISTS`: use that session, or choose another id.
     *  * `INVALID_ARGUMENT` `SESSION_ID_INVALID`, `CONFIG_INVALID`, `SUMMARIZER_UNKNOWN`: correct the request.
     *  * `RESOURCE_EXHAUSTED` `QUOTA_EXCEEDED`: delete sessions, or raise the limit of the server.
     * </pre>
     */
    public io.condense.v1.CreateSessionResponse createSession(io.condense.v1.CreateSessionRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCreateSessionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Returns one session.
     * On repeat: the same, unless the session has changed.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     * </pre>
     */
    public io.condense.v1.GetSessionResponse getSession(io.condense.v1.GetSessionRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetSessionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists sessions, page by page, by id in the order of code points.
     * A session that is there all the while is shown exactly once; one that is created, changed or deleted meanwhile
     * may be shown or not.
     * On repeat: the same page, unless sessions have changed.
     * Errors:
     *  * `INVALID_ARGUMENT` `PAGE_TOKEN_INVALID`: begin again with an empty token.
     * </pre>
     */
    public io.condense.v1.ListSessionsResponse listSessions(io.condense.v1.ListSessionsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListSessionsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Changes configuration and labels of a session, all or nothing. A change takes effect with the next call; a
     * running flush goes on with what it has started with.
     * On repeat: nothing more changes.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `INVALID_ARGUMENT` `CONFIG_INVALID`, `SUMMARIZER_UNKNOWN`: correct the value that the violations name.
     *  * `INVALID_ARGUMENT` `REQUEST_INVALID`: the mask names something that does not exist or cannot be changed.
     * </pre>
     */
    public io.condense.v1.UpdateSessionResponse updateSession(io.condense.v1.UpdateSessionRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getUpdateSessionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Removes a session and everything of it: transcript, archive, decisions, events. A running flush is stopped first.
     * Nothing of it can be brought back.
     * On repeat: with `allow_missing` succeeds with `deleted` false, else `SESSION_NOT_FOUND`; the session is gone
     * either way.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: there is none; set `allow_missing` if that is fine.
     * </pre>
     */
    public io.condense.v1.DeleteSessionResponse deleteSession(io.condense.v1.DeleteSessionRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getDeleteSessionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Copies a session up to a base: its messages, the decisions taken up to there, and its configuration. From then on
     * the two are independent. Refs mean the same in both. Diagnostics start at zero.
     * On repeat: as with `CreateSession`.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `FAILED_PRECONDITION` `TRANSCRIPT_MISMATCH`: the transcript is shorter than the base, or its etag there
     *    differs.
     *  * `ALREADY_EXISTS` `SESSION_ALREADY_EXISTS`: choose another id for the copy.
     *  * `INVALID_ARGUMENT` `SESSION_ID_INVALID`: correct the id of the copy.
     *  * `RESOURCE_EXHAUSTED` `QUOTA_EXCEEDED`: delete sessions, or raise the limit of the server.
     * </pre>
     */
    public io.condense.v1.ForkSessionResponse forkSession(io.condense.v1.ForkSessionRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getForkSessionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists the tool calls of a session, page by page, grouped by the summary that covers them: the data of a tree
     * view.
     * On repeat: the same page, unless the session has changed.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `INVALID_ARGUMENT` `PAGE_TOKEN_INVALID`: begin again with an empty token.
     * </pre>
     */
    public io.condense.v1.ListToolCallsResponse listToolCalls(io.condense.v1.ListToolCallsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListToolCallsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists the summaries and the blocks of a session, page by page, oldest first.
     * On repeat: the same page, unless the session has changed.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `INVALID_ARGUMENT` `PAGE_TOKEN_INVALID`: begin again with an empty token.
     * </pre>
     */
    public io.condense.v1.ListSummariesResponse listSummaries(io.condense.v1.ListSummariesRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListSummariesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Streams what happens to a session, until the client goes away or the session is deleted. Watching never slows a
     * session down: a reader that is too slow gets an `EventGap` in place of what it has missed.
     * On repeat: with the cursor of the last event the stream goes on behind it.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `INVALID_ARGUMENT` `PAGE_TOKEN_INVALID`: the cursor is not one of this session; watch from now on.
     *  * `UNAVAILABLE` `SHUTTING_DOWN`: the server stops; watch again with the cursor.
     * </pre>
     */
    public java.util.Iterator<io.condense.v1.WatchSessionResponse> watchSession(
        io.condense.v1.WatchSessionRequest request) {
      return io.grpc.stub.ClientCalls.blockingServerStreamingCall(
          getChannel(), getWatchSessionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Streams a session as a Pi session file, which a Pi host with a pruner of this kind, or `ImportSession`, takes
     * over with everything that was decided. It is the state at the start of the call.
     * On repeat: the same file, unless the session has changed.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     * </pre>
     */
    public java.util.Iterator<io.condense.v1.ExportSessionResponse> exportSession(
        io.condense.v1.ExportSessionRequest request) {
      return io.grpc.stub.ClientCalls.blockingServerStreamingCall(
          getChannel(), getExportSessionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Reports the usage of the host's last request to the model and judges the budget triggers by it. If one fires and
     * something is pending, the server starts a flush in the background. Every report becomes the baseline of the next
     * one. `PruneMessages` takes the same report along.
     * On repeat: the baseline is the same, so the delta trigger does not fire again.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     * </pre>
     */
    public io.condense.v1.RecordUsageResponse recordUsage(io.condense.v1.RecordUsageRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getRecordUsageMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Keeps results verbatim from the next view on, also if they are summarized already, and keeps flushes from taking
     * them; or ends that. A result that was dropped with a compressed chain comes back inside of its block only if the
     * chain is compressed after the pin.
     * On repeat: nothing more changes, but a lifetime counts from the last call.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id. (Unknown refs are listed in the answer.)
     *  * `INVALID_ARGUMENT` `REQUEST_INVALID`: the lifetime is not above 0, or there are too many refs.
     * </pre>
     */
    public io.condense.v1.PinToolCallsResponse pinToolCalls(io.condense.v1.PinToolCallsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getPinToolCallsMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service SessionService.
   * <pre>
   * Manages sessions.
   * An agent that lets `PruneMessages` create its session needs none of this. For the errors that every call can
   * fail with see `CondenseService`.
   * </pre>
   */
  public static final class SessionServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<SessionServiceFutureStub> {
    private SessionServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected SessionServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new SessionServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * Creates an empty session.
     * On repeat: with the same `request_id` the answer to the first request comes again, as long as the session exists.
     * Without one the call is not safe to repeat: an id that was chosen is taken then, and without an id there is a
     * second session.
     * Errors:
     *  * `ALREADY_EXISTS` `SESSION_ALREADY_EXISTS`: use that session, or choose another id.
     *  * `INVALID_ARGUMENT` `SESSION_ID_INVALID`, `CONFIG_INVALID`, `SUMMARIZER_UNKNOWN`: correct the request.
     *  * `RESOURCE_EXHAUSTED` `QUOTA_EXCEEDED`: delete sessions, or raise the limit of the server.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.condense.v1.CreateSessionResponse> createSession(
        io.condense.v1.CreateSessionRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCreateSessionMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Returns one session.
     * On repeat: the same, unless the session has changed.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.condense.v1.GetSessionResponse> getSession(
        io.condense.v1.GetSessionRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetSessionMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Lists sessions, page by page, by id in the order of code points.
     * A session that is there all the while is shown exactly once; one that is created, changed or deleted meanwhile
     * may be shown or not.
     * On repeat: the same page, unless sessions have changed.
     * Errors:
     *  * `INVALID_ARGUMENT` `PAGE_TOKEN_INVALID`: begin again with an empty token.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.condense.v1.ListSessionsResponse> listSessions(
        io.condense.v1.ListSessionsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListSessionsMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Changes configuration and labels of a session, all or nothing. A change takes effect with the next call; a
     * running flush goes on with what it has started with.
     * On repeat: nothing more changes.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `INVALID_ARGUMENT` `CONFIG_INVALID`, `SUMMARIZER_UNKNOWN`: correct the value that the violations name.
     *  * `INVALID_ARGUMENT` `REQUEST_INVALID`: the mask names something that does not exist or cannot be changed.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.condense.v1.UpdateSessionResponse> updateSession(
        io.condense.v1.UpdateSessionRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getUpdateSessionMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Removes a session and everything of it: transcript, archive, decisions, events. A running flush is stopped first.
     * Nothing of it can be brought back.
     * On repeat: with `allow_missing` succeeds with `deleted` false, else `SESSION_NOT_FOUND`; the session is gone
     * either way.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: there is none; set `allow_missing` if that is fine.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.condense.v1.DeleteSessionResponse> deleteSession(
        io.condense.v1.DeleteSessionRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getDeleteSessionMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Copies a session up to a base: its messages, the decisions taken up to there, and its configuration. From then on
     * the two are independent. Refs mean the same in both. Diagnostics start at zero.
     * On repeat: as with `CreateSession`.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `FAILED_PRECONDITION` `TRANSCRIPT_MISMATCH`: the transcript is shorter than the base, or its etag there
     *    differs.
     *  * `ALREADY_EXISTS` `SESSION_ALREADY_EXISTS`: choose another id for the copy.
     *  * `INVALID_ARGUMENT` `SESSION_ID_INVALID`: correct the id of the copy.
     *  * `RESOURCE_EXHAUSTED` `QUOTA_EXCEEDED`: delete sessions, or raise the limit of the server.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.condense.v1.ForkSessionResponse> forkSession(
        io.condense.v1.ForkSessionRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getForkSessionMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Lists the tool calls of a session, page by page, grouped by the summary that covers them: the data of a tree
     * view.
     * On repeat: the same page, unless the session has changed.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `INVALID_ARGUMENT` `PAGE_TOKEN_INVALID`: begin again with an empty token.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.condense.v1.ListToolCallsResponse> listToolCalls(
        io.condense.v1.ListToolCallsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListToolCallsMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Lists the summaries and the blocks of a session, page by page, oldest first.
     * On repeat: the same page, unless the session has changed.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     *  * `INVALID_ARGUMENT` `PAGE_TOKEN_INVALID`: begin again with an empty token.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.condense.v1.ListSummariesResponse> listSummaries(
        io.condense.v1.ListSummariesRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListSummariesMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Reports the usage of the host's last request to the model and judges the budget triggers by it. If one fires and
     * something is pending, the server starts a flush in the background. Every report becomes the baseline of the next
     * one. `PruneMessages` takes the same report along.
     * On repeat: the baseline is the same, so the delta trigger does not fire again.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.condense.v1.RecordUsageResponse> recordUsage(
        io.condense.v1.RecordUsageRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getRecordUsageMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Keeps results verbatim from the next view on, also if they are summarized already, and keeps flushes from taking
     * them; or ends that. A result that was dropped with a compressed chain comes back inside of its block only if the
     * chain is compressed after the pin.
     * On repeat: nothing more changes, but a lifetime counts from the last call.
     * Errors:
     *  * `NOT_FOUND` `SESSION_NOT_FOUND`: check the session id. (Unknown refs are listed in the answer.)
     *  * `INVALID_ARGUMENT` `REQUEST_INVALID`: the lifetime is not above 0, or there are too many refs.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.condense.v1.PinToolCallsResponse> pinToolCalls(
        io.condense.v1.PinToolCallsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getPinToolCallsMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_CREATE_SESSION = 0;
  private static final int METHODID_GET_SESSION = 1;
  private static final int METHODID_LIST_SESSIONS = 2;
  private static final int METHODID_UPDATE_SESSION = 3;
  private static final int METHODID_DELETE_SESSION = 4;
  private static final int METHODID_FORK_SESSION = 5;
  private static final int METHODID_LIST_TOOL_CALLS = 6;
  private static final int METHODID_LIST_SUMMARIES = 7;
  private static final int METHODID_WATCH_SESSION = 8;
  private static final int METHODID_EXPORT_SESSION = 9;
  private static final int METHODID_RECORD_USAGE = 10;
  private static final int METHODID_PIN_TOOL_CALLS = 11;
  private static final int METHODID_IMPORT_SESSION = 12;

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
        case METHODID_CREATE_SESSION:
          serviceImpl.createSession((io.condense.v1.CreateSessionRequest) request,
              (io.grpc.stub.StreamObserver<io.condense.v1.CreateSessionResponse>) responseObserver);
          break;
        case METHODID_GET_SESSION:
          serviceImpl.getSession((io.condense.v1.GetSessionRequest) request,
              (io.grpc.stub.StreamObserver<io.condense.v1.GetSessionResponse>) responseObserver);
          break;
        case METHODID_LIST_SESSIONS:
          serviceImpl.listSessions((io.condense.v1.ListSessionsRequest) request,
              (io.grpc.stub.StreamObserver<io.condense.v1.ListSessionsResponse>) responseObserver);
          break;
        case METHODID_UPDATE_SESSION:
          serviceImpl.updateSession((io.condense.v1.UpdateSessionRequest) request,
              (io.grpc.stub.StreamObserver<io.condense.v1.UpdateSessionResponse>) responseObserver);
          break;
        case METHODID_DELETE_SESSION:
          serviceImpl.deleteSession((io.condense.v1.DeleteSessionRequest) request,
              (io.grpc.stub.StreamObserver<io.condense.v1.DeleteSessionResponse>) responseObserver);
          break;
        case METHODID_FORK_SESSION:
          serviceImpl.forkSession((io.condense.v1.ForkSessionRequest) request,
              (io.grpc.stub.StreamObserver<io.condense.v1.ForkSessionResponse>) responseObserver);
          break;
        case METHODID_LIST_TOOL_CALLS:
          serviceImpl.listToolCalls((io.condense.v1.ListToolCallsRequest) request,
              (io.grpc.stub.StreamObserver<io.condense.v1.ListToolCallsResponse>) responseObserver);
          break;
        case METHODID_LIST_SUMMARIES:
          serviceImpl.listSummaries((io.condense.v1.ListSummariesRequest) request,
              (io.grpc.stub.StreamObserver<io.condense.v1.ListSummariesResponse>) responseObserver);
          break;
        case METHODID_WATCH_SESSION:
          serviceImpl.watchSession((io.condense.v1.WatchSessionRequest) request,
              (io.grpc.stub.StreamObserver<io.condense.v1.WatchSessionResponse>) responseObserver);
          break;
        case METHODID_EXPORT_SESSION:
          serviceImpl.exportSession((io.condense.v1.ExportSessionRequest) request,
              (io.grpc.stub.StreamObserver<io.condense.v1.ExportSessionResponse>) responseObserver);
          break;
        case METHODID_RECORD_USAGE:
          serviceImpl.recordUsage((io.condense.v1.RecordUsageRequest) request,
              (io.grpc.stub.StreamObserver<io.condense.v1.RecordUsageResponse>) responseObserver);
          break;
        case METHODID_PIN_TOOL_CALLS:
          serviceImpl.pinToolCalls((io.condense.v1.PinToolCallsRequest) request,
              (io.grpc.stub.StreamObserver<io.condense.v1.PinToolCallsResponse>) responseObserver);
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
        case METHODID_IMPORT_SESSION:
          return (io.grpc.stub.StreamObserver<Req>) serviceImpl.importSession(
              (io.grpc.stub.StreamObserver<io.condense.v1.ImportSessionResponse>) responseObserver);
        default:
          throw new AssertionError();
      }
    }
  }

  public static final io.grpc.ServerServiceDefinition bindService(AsyncService service) {
    return io.grpc.ServerServiceDefinition.builder(getServiceDescriptor())
        .addMethod(
          getCreateSessionMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.condense.v1.CreateSessionRequest,
              io.condense.v1.CreateSessionResponse>(
                service, METHODID_CREATE_SESSION)))
        .addMethod(
          getGetSessionMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.condense.v1.GetSessionRequest,
              io.condense.v1.GetSessionResponse>(
                service, METHODID_GET_SESSION)))
        .addMethod(
          getListSessionsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.condense.v1.ListSessionsRequest,
              io.condense.v1.ListSessionsResponse>(
                service, METHODID_LIST_SESSIONS)))
        .addMethod(
          getUpdateSessionMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.condense.v1.UpdateSessionRequest,
              io.condense.v1.UpdateSessionResponse>(
                service, METHODID_UPDATE_SESSION)))
        .addMethod(
          getDeleteSessionMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.condense.v1.DeleteSessionRequest,
              io.condense.v1.DeleteSessionResponse>(
                service, METHODID_DELETE_SESSION)))
        .addMethod(
          getForkSessionMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.condense.v1.ForkSessionRequest,
              io.condense.v1.ForkSessionResponse>(
                service, METHODID_FORK_SESSION)))
        .addMethod(
          getListToolCallsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.condense.v1.ListToolCallsRequest,
              io.condense.v1.ListToolCallsResponse>(
                service, METHODID_LIST_TOOL_CALLS)))
        .addMethod(
          getListSummariesMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.condense.v1.ListSummariesRequest,
              io.condense.v1.ListSummariesResponse>(
                service, METHODID_LIST_SUMMARIES)))
        .addMethod(
          getWatchSessionMethod(),
          io.grpc.stub.ServerCalls.asyncServerStreamingCall(
            new MethodHandlers<
              io.condense.v1.WatchSessionRequest,
              io.condense.v1.WatchSessionResponse>(
                service, METHODID_WATCH_SESSION)))
        .addMethod(
          getExportSessionMethod(),
          io.grpc.stub.ServerCalls.asyncServerStreamingCall(
            new MethodHandlers<
              io.condense.v1.ExportSessionRequest,
              io.condense.v1.ExportSessionResponse>(
                service, METHODID_EXPORT_SESSION)))
        .addMethod(
          getImportSessionMethod(),
          io.grpc.stub.ServerCalls.asyncClientStreamingCall(
            new MethodHandlers<
              io.condense.v1.ImportSessionRequest,
              io.condense.v1.ImportSessionResponse>(
                service, METHODID_IMPORT_SESSION)))
        .addMethod(
          getRecordUsageMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.condense.v1.RecordUsageRequest,
              io.condense.v1.RecordUsageResponse>(
                service, METHODID_RECORD_USAGE)))
        .addMethod(
          getPinToolCallsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.condense.v1.PinToolCallsRequest,
              io.condense.v1.PinToolCallsResponse>(
                service, METHODID_PIN_TOOL_CALLS)))
        .build();
  }

  private static abstract class SessionServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    SessionServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return io.condense.v1.SessionServiceOuterClass.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("SessionService");
    }
  }

  private static final class SessionServiceFileDescriptorSupplier
      extends SessionServiceBaseDescriptorSupplier {
    SessionServiceFileDescriptorSupplier() {}
  }

  private static final class SessionServiceMethodDescriptorSupplier
      extends SessionServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    SessionServiceMethodDescriptorSupplier(java.lang.String methodName) {
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
      synchronized (SessionServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new SessionServiceFileDescriptorSupplier())
              .addMethod(getCreateSessionMethod())
              .addMethod(getGetSessionMethod())
              .addMethod(getListSessionsMethod())
              .addMethod(getUpdateSessionMethod())
              .addMethod(getDeleteSessionMethod())
              .addMethod(getForkSessionMethod())
              .addMethod(getListToolCallsMethod())
              .addMethod(getListSummariesMethod())
              .addMethod(getWatchSessionMethod())
              .addMethod(getExportSessionMethod())
              .addMethod(getImportSessionMethod())
              .addMethod(getRecordUsageMethod())
              .addMethod(getPinToolCallsMethod())
              .build();
        }
      }
    }
    return result;
  }
}

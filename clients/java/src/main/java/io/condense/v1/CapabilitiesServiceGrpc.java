package io.condense.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * Tells what a server can do.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class CapabilitiesServiceGrpc {

  private CapabilitiesServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "condense.v1.CapabilitiesService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<io.condense.v1.GetCapabilitiesRequest,
      io.condense.v1.GetCapabilitiesResponse> getGetCapabilitiesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetCapabilities",
      requestType = io.condense.v1.GetCapabilitiesRequest.class,
      responseType = io.condense.v1.GetCapabilitiesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.condense.v1.GetCapabilitiesRequest,
      io.condense.v1.GetCapabilitiesResponse> getGetCapabilitiesMethod() {
    io.grpc.MethodDescriptor<io.condense.v1.GetCapabilitiesRequest, io.condense.v1.GetCapabilitiesResponse> getGetCapabilitiesMethod;
    if ((getGetCapabilitiesMethod = CapabilitiesServiceGrpc.getGetCapabilitiesMethod) == null) {
      synchronized (CapabilitiesServiceGrpc.class) {
        if ((getGetCapabilitiesMethod = CapabilitiesServiceGrpc.getGetCapabilitiesMethod) == null) {
          CapabilitiesServiceGrpc.getGetCapabilitiesMethod = getGetCapabilitiesMethod =
              io.grpc.MethodDescriptor.<io.condense.v1.GetCapabilitiesRequest, io.condense.v1.GetCapabilitiesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetCapabilities"))
              .setSafe(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.GetCapabilitiesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.condense.v1.GetCapabilitiesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new CapabilitiesServiceMethodDescriptorSupplier("GetCapabilities"))
              .build();
        }
      }
    }
    return getGetCapabilitiesMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static CapabilitiesServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<CapabilitiesServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<CapabilitiesServiceStub>() {
        @java.lang.Override
        public CapabilitiesServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new CapabilitiesServiceStub(channel, callOptions);
        }
      };
    return CapabilitiesServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static CapabilitiesServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<CapabilitiesServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<CapabilitiesServiceBlockingV2Stub>() {
        @java.lang.Override
        public CapabilitiesServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new CapabilitiesServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return CapabilitiesServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static CapabilitiesServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<CapabilitiesServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<CapabilitiesServiceBlockingStub>() {
        @java.lang.Override
        public CapabilitiesServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new CapabilitiesServiceBlockingStub(channel, callOptions);
        }
      };
    return CapabilitiesServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static CapabilitiesServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<CapabilitiesServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<CapabilitiesServiceFutureStub>() {
        @java.lang.Override
        public CapabilitiesServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new CapabilitiesServiceFutureStub(channel, callOptions);
        }
      };
    return CapabilitiesServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * Tells what a server can do.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * Returns version, formats, limits, summarizers and the definition of the recovery tool. Needs no session.
     * On repeat: the same, as long as the server runs.
     * Errors: only those that every call can fail with; see `CondenseService`.
     * </pre>
     */
    default void getCapabilities(io.condense.v1.GetCapabilitiesRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.GetCapabilitiesResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetCapabilitiesMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service CapabilitiesService.
   * <pre>
   * Tells what a server can do.
   * </pre>
   */
  public static abstract class CapabilitiesServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return CapabilitiesServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service CapabilitiesService.
   * <pre>
   * Tells what a server can do.
   * </pre>
   */
  public static final class CapabilitiesServiceStub
      extends io.grpc.stub.AbstractAsyncStub<CapabilitiesServiceStub> {
    private CapabilitiesServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected CapabilitiesServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new CapabilitiesServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * Returns version, formats, limits, summarizers and the definition of the recovery tool. Needs no session.
     * On repeat: the same, as long as the server runs.
     * Errors: only those that every call can fail with; see `CondenseService`.
     * </pre>
     */
    public void getCapabilities(io.condense.v1.GetCapabilitiesRequest request,
        io.grpc.stub.StreamObserver<io.condense.v1.GetCapabilitiesResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetCapabilitiesMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service CapabilitiesService.
   * <pre>
   * Tells what a server can do.
   * </pre>
   */
  public static final class CapabilitiesServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<CapabilitiesServiceBlockingV2Stub> {
    private CapabilitiesServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected CapabilitiesServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new CapabilitiesServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * Returns version, formats, limits, summarizers and the definition of the recovery tool. Needs no session.
     * On repeat: the same, as long as the server runs.
     * Errors: only those that every call can fail with; see `CondenseService`.
     * </pre>
     */
    public io.condense.v1.GetCapabilitiesResponse getCapabilities(io.condense.v1.GetCapabilitiesRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetCapabilitiesMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service CapabilitiesService.
   * <pre>
   * Tells what a server can do.
   * </pre>
   */
  public static final class CapabilitiesServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<CapabilitiesServiceBlockingStub> {
    private CapabilitiesServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected CapabilitiesServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new CapabilitiesServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * Returns version, formats, limits, summarizers and the definition of the recovery tool. Needs no session.
     * On repeat: the same, as long as the server runs.
     * Errors: only those that every call can fail with; see `CondenseService`.
     * </pre>
     */
    public io.condense.v1.GetCapabilitiesResponse getCapabilities(io.condense.v1.GetCapabilitiesRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetCapabilitiesMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service CapabilitiesService.
   * <pre>
   * Tells what a server can do.
   * </pre>
   */
  public static final class CapabilitiesServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<CapabilitiesServiceFutureStub> {
    private CapabilitiesServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected CapabilitiesServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new CapabilitiesServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * Returns version, formats, limits, summarizers and the definition of the recovery tool. Needs no session.
     * On repeat: the same, as long as the server runs.
     * Errors: only those that every call can fail with; see `CondenseService`.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.condense.v1.GetCapabilitiesResponse> getCapabilities(
        io.condense.v1.GetCapabilitiesRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetCapabilitiesMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_GET_CAPABILITIES = 0;

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
        case METHODID_GET_CAPABILITIES:
          serviceImpl.getCapabilities((io.condense.v1.GetCapabilitiesRequest) request,
              (io.grpc.stub.StreamObserver<io.condense.v1.GetCapabilitiesResponse>) responseObserver);
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
        default:
          throw new AssertionError();
      }
    }
  }

  public static final io.grpc.ServerServiceDefinition bindService(AsyncService service) {
    return io.grpc.ServerServiceDefinition.builder(getServiceDescriptor())
        .addMethod(
          getGetCapabilitiesMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.condense.v1.GetCapabilitiesRequest,
              io.condense.v1.GetCapabilitiesResponse>(
                service, METHODID_GET_CAPABILITIES)))
        .build();
  }

  private static abstract class CapabilitiesServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    CapabilitiesServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return io.condense.v1.CapabilitiesServiceOuterClass.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("CapabilitiesService");
    }
  }

  private static final class CapabilitiesServiceFileDescriptorSupplier
      extends CapabilitiesServiceBaseDescriptorSupplier {
    CapabilitiesServiceFileDescriptorSupplier() {}
  }

  private static final class CapabilitiesServiceMethodDescriptorSupplier
      extends CapabilitiesServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    CapabilitiesServiceMethodDescriptorSupplier(java.lang.String methodName) {
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
      synchronized (CapabilitiesServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new CapabilitiesServiceFileDescriptorSupplier())
              .addMethod(getGetCapabilitiesMethod())
              .build();
        }
      }
    }
    return result;
  }
}

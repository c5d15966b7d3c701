/**
 * The generated code of the contract, for what the facade does not offer: messages, enums and services.
 */

export * from "./gen/condense/v1/capabilities_pb.js";
export * from "./gen/condense/v1/capabilities_service_pb.js";
export * from "./gen/condense/v1/condense_service_pb.js";
export * from "./gen/condense/v1/config_pb.js";
export * from "./gen/condense/v1/diagnostics_pb.js";
export * from "./gen/condense/v1/edit_pb.js";
export * from "./gen/condense/v1/error_pb.js";
export * from "./gen/condense/v1/flush_event_pb.js";
export * from "./gen/condense/v1/flush_pb.js";
export * from "./gen/condense/v1/message_pb.js";
export * from "./gen/condense/v1/query_pb.js";
export * from "./gen/condense/v1/session_event_pb.js";
export * from "./gen/condense/v1/session_pb.js";
export * from "./gen/condense/v1/session_service_pb.js";
export * from "./gen/condense/v1/session_transfer_pb.js";
export * from "./gen/condense/v1/stats_pb.js";
export * from "./gen/condense/v1/summary_pb.js";
export * from "./gen/condense/v1/tool_call_pb.js";
export * from "./gen/condense/v1/transcript_pb.js";
export * from "./gen/condense/v1/usage_pb.js";
export * from "./gen/condense/v1/view_pb.js";

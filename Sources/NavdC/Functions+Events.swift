public import CNavd

// The functions of navd.h about events and errors; navd.h documents them.

/// See navd.h.
@c @implementation
public func navd_event_kind(_ handle: OpaquePointer?) -> navd_kind {
  unsafe event(handle)?.kind ?? NAVD_EVENT_NONE
}

/// See navd.h.
@c @implementation
public func navd_event_nav(_ handle: OpaquePointer?) -> UnsafePointer<CChar>? {
  unsafe event(handle)?.nav?.pointer
}

/// See navd.h.
@c @implementation
public func navd_event_id(_ handle: OpaquePointer?) -> UInt64 { unsafe event(handle)?.id ?? 0 }

/// See navd.h.
@c @implementation
public func navd_event_json(_ handle: OpaquePointer?) -> UnsafePointer<CChar>? {
  unsafe event(handle)?.json.pointer
}

/// See navd.h.
@c @implementation
public func navd_event_change(_ handle: OpaquePointer?) -> UnsafePointer<CChar>? {
  unsafe event(handle)?.change?.pointer
}

/// See navd.h.
@c @implementation
public func navd_event_error(_ handle: OpaquePointer?) -> OpaquePointer? {
  unsafe event(handle)?.error == nil ? nil : Handles.error(of: handle)
}

/// See navd.h.
@c @implementation
public func navd_event_free(_ handle: OpaquePointer?) {
  unsafe Handles.remove(handle, Event.self)
}

/// See navd.h.
@c @implementation
public func navd_error_status(_ handle: OpaquePointer?) -> navd_status {
  unsafe error(handle)?.failure.status ?? NAVD_OK
}

/// See navd.h.
@c @implementation
public func navd_error_code(_ handle: OpaquePointer?) -> UnsafePointer<CChar>? {
  unsafe error(handle)?.code.pointer
}

/// See navd.h.
@c @implementation
public func navd_error_message(_ handle: OpaquePointer?) -> UnsafePointer<CChar>? {
  unsafe error(handle)?.message.pointer
}

/// See navd.h.
@c @implementation
public func navd_error_advice(_ handle: OpaquePointer?) -> UnsafePointer<CChar>? {
  unsafe error(handle)?.advice.pointer
}

/// See navd.h.
@c @implementation
public func navd_error_retry(_ handle: OpaquePointer?) -> navd_retry {
  unsafe error(handle)?.failure.retry ?? NAVD_RETRY_NEVER
}

/// See navd.h.
@c @implementation
public func navd_error_retry_after(_ handle: OpaquePointer?) -> Int64 {
  unsafe Int64(clamping: error(handle)?.failure.retryAfter ?? 0)
}

/// See navd.h.
@c @implementation
public func navd_error_may_have_happened(_ handle: OpaquePointer?) -> CInt {
  unsafe error(handle)?.failure.mayHaveHappened == true ? 1 : 0
}

/// See navd.h.
@c @implementation
public func navd_error_json(_ handle: OpaquePointer?) -> UnsafePointer<CChar>? {
  unsafe error(handle)?.json.pointer
}

/// See navd.h.
@c @implementation
public func navd_error_free(_ handle: OpaquePointer?) {
  // The error of an event has no entry, and is freed with it.
  unsafe Handles.remove(handle, ErrorText.self)
}

private func event(_ handle: OpaquePointer?) -> Event? { unsafe Handles.find(handle) }

private func error(_ handle: OpaquePointer?) -> ErrorText? { unsafe Handles.error(handle) }

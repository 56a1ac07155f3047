import CLinux
import CMicroHTTPD
import RuntimePaths

/// An HTTP server on one socket, by libmicrohttpd, on the thread that calls `run`.
///
/// The server asks its application about the head of each request. It closes a connection that is
/// idle for too long, unless the connection has a stream.
@safe
struct HTTPServer: ~Copyable {
  private let mhd: OpaquePointer
  private let callbackContext: CallbackContext
  private let address: ListenAddress
  private let maximumConnections: Int
  private let listener: Int32
  /// Whether `pollDescriptor` watches the listening socket.
  private var isWatchingListener = true
  /// Whether the process had no free descriptor for a waiting connection; the next `run` retries.
  private var lacksDescriptors = false
  /// The descriptor that is readable when `run` has work.
  let pollDescriptor: Int32
  /// The address it listens on, with the port that the kernel chose for port 0.
  let boundAddress: ListenAddress

  /// Opens the listening socket, or takes over the descriptor of one that listens already.
  ///
  /// With `inherited`, `address` is only for messages. Connections above the maximum wait until the
  /// server accepts them; it closes an idle connection after `idleSeconds`.
  init(
    _ address: ListenAddress, inherited: Int32? = nil, maximumConnections: Int = 64,
    idleSeconds: UInt32 = 3, application: any HTTPApplication
  ) throws(SystemError) {
    let listener =
      switch address {
      case _ where inherited != nil: inherited ?? -1
      case .network(let address, let port): unsafe navd_http_listen_network(address, port)
      case .local(let path): unsafe navd_http_listen_local(path)
      }
    guard listener >= 0 else {
      throw SystemError("listen on", address.description, code: navd_errno())
    }
    let set = navd_http_watch_set()
    let callbackContext = CallbackContext(application, set)
    let context = unsafe Unmanaged.passUnretained(callbackContext).toOpaque()
    guard set >= 0,
      let mhd = unsafe navd_http_start(
        CallbackContext.handler, CallbackContext.requestCompleted, context,
        UInt32(maximumConnections + 1),
        idleSeconds)
    else {
      let code = navd_errno()
      close(listener)
      throw SystemError("serve HTTP on", address.description, code: code)
    }
    let work = unsafe navd_http_descriptor(mhd)
    precondition(work >= 0, "a server made with MHD_USE_EPOLL has a descriptor")
    let isWatched = navd_http_watch(set, work, 0) == 0 && navd_http_watch(set, listener, 0) == 0
    precondition(isWatched, "epoll_ctl: errno=\(navd_errno())")
    unsafe self.mhd = mhd
    self.callbackContext = callbackContext
    self.address = address
    self.maximumConnections = maximumConnections
    self.listener = listener
    pollDescriptor = set
    removesSocketFile = inherited == nil
    boundAddress =
      switch address {
      case .network(let address, let port):
        .network(address: address, port: max(port, navd_http_port(listener)))
      case .local: address
      }
  }

  private let removesSocketFile: Bool

  deinit {
    for stream in Array(callbackContext.streams.values) { stream.abort() }
    // libmicrohttpd must have resumed every connection before it stops.
    unsafe MHD_run(mhd)
    unsafe MHD_stop_daemon(mhd)
    close(listener)
    close(pollDescriptor)
    if removesSocketFile, case .local(let path) = address { _ = unsafe unlink(path) }
  }

  /// Accepts waiting connections and responds to complete requests, without blocking.
  ///
  /// The server itself accepts connections and hands them to libmicrohttpd. If libmicrohttpd
  /// accepts them and reaches its limit, it can stop polling the listening socket for ever.
  mutating func run() {
    var ready = [Int32](repeating: -1, count: 64)
    let count = unsafe navd_http_ready(pollDescriptor, &ready)
    for descriptor in ready.prefix(Int(count)) { callbackContext.streams[descriptor]?.abort() }
    var accepted: Int32 = 0
    // libmicrohttpd 1.0 counts a connection only when it runs.
    var room = maximumConnections - connectionCount
    while room > 0, accepted == 0 {
      accepted = unsafe navd_http_accept(mhd, listener)
      room -= 1
    }
    // The connection that could not be accepted keeps the socket readable: without a pause, the
    // caller would come back at once, for ever.
    lacksDescriptors = accepted == -2
    _ = unsafe MHD_run(mhd)
    if isWatchingListener != (hasRoom && !lacksDescriptors) {
      isWatchingListener.toggle()
      navd_http_watch_again(pollDescriptor, listener, isWatchingListener ? 1 : 0)
    }
  }

  private var connectionCount: Int { unsafe Int(navd_http_connections(mhd)) }

  var hasRoom: Bool { connectionCount < maximumConnections }

  /// After how many milliseconds the caller must call `run`, at most 1000; -1 for never.
  ///
  /// `run` then closes the connections that have been idle for too long.
  var timeoutMilliseconds: Int32 {
    let timeout = unsafe navd_http_timeout(mhd)
    return lacksDescriptors && timeout < 0 ? 1000 : timeout
  }
}

/// The object behind the pointers that libmicrohttpd passes to its callbacks.
@safe
private final class CallbackContext {
  private let application: any HTTPApplication
  private let epollDescriptor: Int32
  /// The streams by the descriptors of their connections.
  private(set) var streams: [Int32: ResponseStream] = [:]

  /// A request whose body is still arriving, between two calls of the handler.
  final class PendingRequest {
    var request: HTTPRequest
    let bodyLimit: Int
    var isTooLong = false

    init(_ request: HTTPRequest, bodyLimit: Int) {
      self.request = request
      self.bodyLimit = bodyLimit
    }
  }

  init(_ application: any HTTPApplication, _ set: Int32) {
    self.application = application
    epollDescriptor = set
  }

  static let handler: MHD_AccessHandlerCallback = {
    context, connection, url, method, _, upload, size, state in
    guard let context = unsafe context, let connection = unsafe connection,
      let url = unsafe url, let method = unsafe method, let state = unsafe state,
      let size = unsafe size
    else { return .NO }
    let callbackContext = unsafe Unmanaged<CallbackContext>.fromOpaque(context)
      .takeUnretainedValue()
    guard let pointer = unsafe state.pointee else {
      let request = unsafe HTTPRequest(
        String(cString: method), String(cString: url), of: connection)
      if let fault = request.framingFault {
        return unsafe callbackContext.refuse(400, fault, connection)
      }
      let decision = callbackContext.application.decideAfterHead(request)
      guard case .readBody(let limit) = decision else {
        return unsafe callbackContext.carryOut(decision, on: connection)
      }
      let pending = PendingRequest(request, bodyLimit: limit)
      unsafe state.pointee = Unmanaged.passRetained(pending).toOpaque()
      return .YES
    }
    let pending = unsafe Unmanaged<PendingRequest>.fromOpaque(pointer).takeUnretainedValue()
    if unsafe size.pointee > 0, let upload = unsafe upload {
      let bytes = unsafe UnsafeRawBufferPointer(start: upload, count: size.pointee)
      if pending.request.body.count + bytes.count > pending.bodyLimit { pending.isTooLong = true }
      // The rest of a body that is too long is read and dropped: otherwise the client would get a
      // reset in place of the answer.
      if pending.isTooLong {
        pending.request.body = []
      } else {
        unsafe pending.request.body += bytes
      }
      unsafe size.pointee = 0
      return .YES
    }
    if pending.isTooLong {
      let text = "the body has more than \(pending.bodyLimit) octets"
      return unsafe callbackContext.refuse(413, text, connection)
    }
    let decision = callbackContext.application.decideAfterBody(pending.request)
    return unsafe callbackContext.carryOut(decision, on: connection)
  }

  static let requestCompleted: MHD_RequestCompletedCallback = { _, _, state, _ in
    guard let state = unsafe state, let pointer = unsafe state.pointee else { return }
    unsafe Unmanaged<PendingRequest>.fromOpaque(pointer).release()
    unsafe state.pointee = nil
  }

  private func refuse(
    _ status: UInt32, _ reason: String, _ connection: OpaquePointer
  ) -> MHD_Result {
    // What follows on this connection cannot be trusted to be a request.
    let answer = application.refusalResponse(status, reason).with("Connection", "close")
    return unsafe carryOut(.respond(answer), on: connection)
  }

  private func carryOut(_ decision: HTTPDecision, on connection: OpaquePointer) -> MHD_Result {
    let head: HTTPResponse
    let response: OpaquePointer?
    switch decision {
    case .readBody: preconditionFailure("the body has been read")
    case .respond(let answer):
      head = answer
      unsafe response = answer.body.withUnsafeBytes { buffer in
        unsafe navd_http_copy(buffer.baseAddress, buffer.count)
      }
    case .sendFile(let file, let answer):
      head = answer
      unsafe response = MHD_create_response_from_fd64(UInt64(file.size), file.takeDescriptor())
    case .stream(let stream, let answer):
      head = answer
      unsafe response = makeBody(of: stream, on: connection)
    }
    guard let response = unsafe response else { return .NO }
    defer { unsafe MHD_destroy_response(response) }
    unsafe MHD_add_response_header(response, "Content-Type", head.type)
    for header in head.headers { unsafe MHD_add_response_header(response, header[0], header[1]) }
    return unsafe MHD_queue_response(connection, head.status, response)
  }

  private func makeBody(of stream: ResponseStream, on connection: OpaquePointer) -> OpaquePointer? {
    unsafe stream.begin(connection)
    let descriptor = stream.descriptor
    unsafe navd_http_be_patient(connection)
    streams[descriptor] = stream
    // A suspended connection does not notice that its peer has closed it.
    _ = navd_http_watch(epollDescriptor, descriptor, 1)
    stream.whenOver = { [unowned self, unowned stream] in
      if streams[descriptor] === stream { streams[descriptor] = nil }
    }
    return unsafe MHD_create_response_from_callback(
      UInt64.max, 16384,
      { context, _, target, limit in
        guard let context = unsafe context, let target = unsafe target else { return -1 }
        let stream = unsafe Unmanaged<ResponseStream>.fromOpaque(context).takeUnretainedValue()
        return unsafe stream.copyPending(to: target, limit)
      }, Unmanaged.passRetained(stream).toOpaque(),
      { context in
        guard let context = unsafe context else { return }
        unsafe Unmanaged<ResponseStream>.fromOpaque(context).takeRetainedValue().noteReleased()
      })
  }
}

extension HTTPRequest {
  fileprivate init(_ method: String, _ path: String, of connection: OpaquePointer) {
    self.init(
      method: method == "HEAD" ? "GET" : method, isForHead: method == "HEAD", path: path)
    let headers = unsafe Self.values(.HEADER_KIND, of: connection)
    func values(_ name: String) -> [String] {
      headers.filter { $0.name.equalsIgnoringASCIICase(name) }.map(\.value)
    }
    func joined(_ name: String) -> String? {
      let values = values(name)
      return values.isEmpty ? nil : values.joined(separator: ", ")
    }
    authorization = values("authorization").first
    hosts = values("host")
    origin = joined("origin")
    fetchSite = joined("sec-fetch-site")
    for (name, value) in headers where name.lowercased().hasPrefix("nsp-") {
      nspHeaders[name.lowercased()] = value
    }
    requestedMethod = joined("access-control-request-method")
    requestedHeaders = joined("access-control-request-headers")
    framingFault = Framing.fault(of: headers)
    for (name, value) in unsafe Self.values(.GET_ARGUMENT_KIND, of: connection) {
      query[name] = value
    }
  }

  private static func values(
    _ kind: MHD_ValueKind, of connection: OpaquePointer
  ) -> [(name: String, value: String)] {
    var values: [(name: String, value: String)] = []
    unsafe withUnsafeMutablePointer(to: &values) { values in
      _ = unsafe MHD_get_connection_values(
        connection, kind,
        { context, _, name, value in
          let values = unsafe context?.assumingMemoryBound(to: [(name: String, value: String)].self)
          guard let name = unsafe name else { return .YES }
          let text = unsafe value.map { unsafe String(cString: $0) } ?? ""
          unsafe values?.pointee.append((String(cString: name), text))
          return .YES
        }, values)
    }
    return values
  }
}

import CPostgreSQL
import Glibc
import RuntimePaths
import Synchronization

/// A parameter of a statement, in PostgreSQL's binary format.
enum PostgresValue {
  /// A `bigint`, eight bytes.
  case integer(Int64)
  case bytes([UInt8])
  /// A `text` in UTF-8; nil stands for NULL.
  case text(String?)
  case integers([Int64])
  /// A `tid[]`: positions of rows, each as the integer that `PostgresResult.integer` returns.
  case tids([Int64])

  /// A `bigint` with the same bits; sequences and checksums are stored like this.
  static func bits(_ number: UInt64) -> PostgresValue { .integer(Int64(bitPattern: number)) }

  fileprivate var type: Oid {
    switch self {
    case .integer: 20
    case .bytes: 17
    case .text: 25
    case .integers: 1016
    case .tids: 1010
    }
  }

  /// The bytes of the value; nil for NULL.
  fileprivate var encoded: [UInt8]? {
    switch self {
    case .integer(let number): Self.bigEndian(number, bits: 64)
    case .bytes(let bytes): bytes
    case .text(let text): text.map { Array($0.utf8) }
    case .integers(let numbers): Self.array(numbers, of: 20, bytes: 8)
    case .tids(let places): Self.array(places, of: 27, bytes: 6)
    }
  }

  private static func array(_ numbers: [Int64], of type: Int64, bytes: Int) -> [UInt8] {
    // The dimensions, whether there are nulls, the type, and the bounds of the one dimension.
    [numbers.isEmpty ? 0 : 1, 0, type].flatMap { bigEndian($0, bits: 32) }
      + (numbers.isEmpty ? [] : [Int64(numbers.count), 1]).flatMap { bigEndian($0, bits: 32) }
      + numbers.flatMap { bigEndian(Int64(bytes), bits: 32) + bigEndian($0, bits: bytes * 8) }
  }

  private static func bigEndian(_ number: Int64, bits: Int) -> [UInt8] {
    stride(from: bits - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
  }
}

/// A statement with its parameters.
struct PostgresCommand {
  /// The SQL with `$1`, `$2`, … for the parameters.
  var sql: String
  var values: [PostgresValue]

  init(_ sql: String, _ values: PostgresValue...) {
    self.sql = sql
    self.values = values
  }
}

/// A connection to a server, with statements prepared as they are first used.
///
/// One thread at a time uses it.
@safe final class PostgresConnection {
  private let handle: OpaquePointer
  /// The milliseconds after which a server that does not answer counts as lost.
  private let timeoutMilliseconds: UInt64
  private var preparedNames: [String: String] = [:]
  /// Whether statements were sent, and their results not taken yet.
  private var hasPendingResults = false
  /// Why the connection was lost; it can only be closed, because late results would pass for those
  /// of later statements.
  private var lossReason: String?
  private let isUnreplicatedPointer: UnsafeMutablePointer<Bool>
  /// The id of the server process of this session; behind a pooler, another one can answer.
  private(set) var backendPID: Int64 = 0

  /// The seconds after which an address that does not answer counts as unreachable; libpq takes no
  /// less than 2.
  static let connectTimeoutSeconds: UInt64 = 2

  /// Connects to the first server of `conninfo` that accepts writes, within some seconds for each.
  ///
  /// libpq takes what the connection string lacks from the environment and the service file. The
  /// server shows `name`, by which another daemon can end the connection. The kernel closes the
  /// connection if the server acknowledges no data for `timeout` milliseconds. Throws
  /// `.unreachable`, also if the server refuses the user.
  init(_ conninfo: String, as name: String, timeout: UInt64) throws(PostgresError) {
    // What stands before `dbname` are defaults, which the connection string can change.
    let settings = [
      ("connect_timeout", "\(Self.connectTimeoutSeconds)"), ("tcp_user_timeout", "\(timeout)"),
      ("keepalives_idle", "1"),
      ("keepalives_interval", "1"), ("keepalives_count", "3"), ("dbname", conninfo),
      ("application_name", name),
      // Never a standby: its answers can be older than what this process has stored.
      ("target_session_attrs", "read-write"), ("client_encoding", "UTF8"),
    ]
    let names = unsafe settings.map { unsafe strdup($0.0) }
    let values = unsafe settings.map { unsafe strdup($0.1) }
    defer { unsafe (names + values).forEach { unsafe free($0) } }
    let connected = unsafe PQconnectdbParams(
      names.map { unsafe UnsafePointer($0) } + [nil],
      values.map { unsafe UnsafePointer($0) } + [nil], 1)
    guard let connected = unsafe connected else { throw .unreachable("no memory") }
    unsafe handle = unsafe connected
    timeoutMilliseconds = timeout
    unsafe isUnreplicatedPointer = .allocate(capacity: 1)
    unsafe isUnreplicatedPointer.initialize(to: false)
    guard unsafe PQstatus(handle) == CONNECTION_OK else {
      throw noteLoss()
    }
    unsafe PQsetnonblocking(handle, 1)
    unsafe PQsetNoticeReceiver(
      handle,
      { context, result in
        // The function of the server that waits for the standby; others send 01000 too.
        let function = unsafe PQresultErrorField(result, 82).map { unsafe String(cString: $0) }
        if function == "SyncRepWaitForLSN" {
          unsafe context?.assumingMemoryBound(to: Bool.self).pointee = true
        }
      }, isUnreplicatedPointer)
    guard unsafe PQenterPipelineMode(handle) == 1 else { throw noteLoss() }
    let results = try run(Self.sessionSettings(timeout) + [Self.processCommand])
    backendPID = results.last?.integer(0, 0) ?? 0
  }

  static let processCommand = PostgresCommand("SELECT pg_backend_pid()")

  /// The settings with which the server notices within seconds that this process has ended, also
  /// while a statement waits for a lock, and ends that wait before this process gives up.
  private static func sessionSettings(_ timeout: UInt64) -> [PostgresCommand] {
    let values = [
      ("tcp_keepalives_idle", "1"), ("tcp_keepalives_interval", "1"),
      ("tcp_keepalives_count", "3"), ("client_connection_check_interval", "500"),
      ("lock_timeout", "\(timeout * 3 / 4)"), ("statement_timeout", "0"),
      ("search_path", "pg_catalog"),
    ]
    return values.map { name, value in
      // Only the settings that this version of the server has.
      PostgresCommand(
        "SELECT set_config(name, $1, false) FROM pg_catalog.pg_settings WHERE name = $2",
        .text(value), .text(name))
    } + [
      // Whatever the server, the database or the user has, now or after a reload.
      PostgresCommand(
        """
        SELECT set_config(name, 'on', false) FROM pg_catalog.pg_settings
        WHERE name = 'synchronous_commit' AND setting <> 'remote_apply'
        """)
    ]
  }

  deinit {
    unsafe PQfinish(handle)
    unsafe isUnreplicatedPointer.deallocate()
  }

  /// Runs statements in one round trip, up to the first that fails.
  ///
  /// Without `BEGIN` and `COMMIT` among them, the statements are one transaction. `deadline` is in
  /// milliseconds of the monotonic clock; nil stands for `timeout` from now on. Results are in the
  /// order of the statements. After `.unreachable` the connection can only be closed.
  func run(_ commands: [PostgresCommand], until deadline: UInt64? = nil) throws(PostgresError)
    -> [PostgresResult]
  {
    let deadline = deadline ?? SystemClock.monotonicMilliseconds() + timeoutMilliseconds
    // Nobody waits for them any more.
    if hasPendingResults { _ = try finish(until: deadline) }
    try start(commands, until: deadline)
    return try finish(until: deadline)
  }

  /// Sends statements without waiting for their results, which `finish` takes.
  func start(_ commands: [PostgresCommand], until deadline: UInt64? = nil) throws(PostgresError) {
    try throwIfLost()
    precondition(!hasPendingResults, "statements are on their way")
    unsafe isUnreplicatedPointer.pointee = false
    // In a round trip of their own, so that they outlast a transaction that fails.
    let new = commands.filter { preparedNames[$0.sql] == nil }
    if !new.isEmpty {
      var names: [String: String] = [:]
      for command in new where names[command.sql] == nil {
        names[command.sql] = try prepare(command)
      }
      try endPipeline()
      _ = try finish(until: deadline)
      preparedNames.merge(names) { $1 }
    }
    for command in commands { try send(command) }
    try endPipeline()
  }

  private func endPipeline() throws(PostgresError) {
    guard unsafe PQpipelineSync(handle) == 1, unsafe PQflush(handle) >= 0 else { throw noteLoss() }
    hasPendingResults = true
  }

  /// Takes the results of what was started, in the order of the statements.
  ///
  /// After each result it waits as long again for the next one.
  func finish(until deadline: UInt64? = nil) throws(PostgresError) -> [PostgresResult] {
    try throwIfLost()
    hasPendingResults = false
    let now = SystemClock.monotonicMilliseconds()
    var end = deadline ?? now + timeoutMilliseconds
    let patience = end - min(end, now)
    var results: [PostgresResult] = []
    var failure: PostgresError?
    while true {
      guard let result = try unsafe nextResult(until: end) else { continue }
      end = max(
        end, SystemClock.monotonicMilliseconds().addingReportingOverflow(patience).partialValue)
      switch unsafe PQresultStatus(result) {
      case PGRES_COMMAND_OK, PGRES_TUPLES_OK:
        unsafe results.append(PostgresResult(result))
        continue
      case PGRES_PIPELINE_SYNC:
        unsafe PQclear(result)
        if let failure { throw failure }
        return results
      case PGRES_PIPELINE_ABORTED: break
      default: if failure == nil { failure = unsafe PostgresError(result: result) }
      }
      unsafe PQclear(result)
    }
  }

  /// Whether a commit of the last `run` warned that no standby has acknowledged it.
  ///
  /// The server sends this warning if somebody cancels the wait for the standby: the commit is then
  /// on the primary alone.
  var isUnreplicated: Bool { unsafe isUnreplicatedPointer.pointee }

  /// Waits until the server notifies this connection, a descriptor is readable, or a time of the
  /// monotonic clock has come; returns whether there was a notification.
  ///
  /// Throws `.unreachable` if the connection was lost.
  func awaitNotification(
    or descriptor: Int32, until deadline: UInt64
  ) throws(PostgresError) -> Bool {
    try throwIfLost()
    if takeNotifications() { return true }
    let now = SystemClock.monotonicMilliseconds()
    var entries = [
      pollfd(fd: unsafe PQsocket(handle), events: Int16(POLLIN), revents: 0),
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
    ]
    _ = unsafe poll(&entries, 2, deadline > now ? Int32(clamping: deadline - now) : 0)
    if entries[0].revents != 0 {
      guard unsafe PQconsumeInput(handle) == 1, unsafe PQstatus(handle) == CONNECTION_OK else {
        throw noteLoss()
      }
    }
    return takeNotifications()
  }

  private func takeNotifications() -> Bool {
    var isNotified = false
    while let notification = unsafe PQnotifies(handle) {
      isNotified = true
      unsafe PQfreemem(notification)
    }
    return isNotified
  }

  /// Sends the preparation of a statement; returns its name.
  private func prepare(_ command: PostgresCommand) throws(PostgresError) -> String {
    let name = "navd\(Self.preparedCount.wrappingAdd(1, ordering: .relaxed).newValue)"
    let types = command.values.map(\.type)
    guard unsafe PQsendPrepare(handle, name, command.sql, Int32(types.count), types) == 1 else {
      throw noteLoss()
    }
    return name
  }

  /// Numbers the prepared statements; a name that an aborted pipeline used is not used again.
  private static let preparedCount = Atomic<UInt64>(0)

  private func send(_ command: PostgresCommand) throws(PostgresError) {
    let values = command.values.map(\.encoded)
    // One buffer for all parameters, so that the pointers into it stay valid during the call.
    let buffer: [UInt8] = values.reduce(into: []) { $0 += ($1 ?? []) + [0] }
    let lengths = values.map { Int32($0?.count ?? 0) }
    let sent = unsafe buffer.withUnsafeBytes { bytes in
      var pointers = unsafe [UnsafePointer<CChar>?]()
      var offset = 0
      for value in values {
        let start = unsafe bytes.baseAddress.flatMap { unsafe value == nil ? nil : $0 }
        unsafe pointers.append(
          start.map { unsafe ($0 + offset).assumingMemoryBound(to: CChar.self) })
        offset += (value?.count ?? 0) + 1
      }
      return unsafe PQsendQueryPrepared(
        handle, preparedNames[command.sql], Int32(values.count), pointers, lengths,
        values.map { _ in 1 }, 1)
    }
    guard sent == 1 else { throw noteLoss() }
  }

  /// Returns the next result; nil between two statements.
  private func nextResult(until deadline: UInt64) throws(PostgresError) -> OpaquePointer? {
    while true {
      let unsent = unsafe PQflush(handle)
      guard unsent >= 0 else { throw noteLoss() }
      if unsafe PQisBusy(handle) == 0 { break }
      try waitForSocket(forWriting: unsent > 0, until: deadline)
      guard unsafe PQconsumeInput(handle) == 1 else { throw noteLoss() }
    }
    let result = unsafe PQgetResult(handle)
    if unsafe result == nil {
      guard unsafe PQstatus(handle) == CONNECTION_OK else { throw noteLoss() }
      guard SystemClock.monotonicMilliseconds() < deadline else {
        throw noteLoss("the server does not answer")
      }
    }
    return unsafe result
  }

  private func waitForSocket(forWriting: Bool, until deadline: UInt64) throws(PostgresError) {
    let now = SystemClock.monotonicMilliseconds()
    guard now < deadline else { throw noteLoss("the server does not answer") }
    var entry = pollfd(
      fd: unsafe PQsocket(handle), events: Int16(POLLIN) | (forWriting ? Int16(POLLOUT) : 0),
      revents: 0)
    let found = unsafe poll(&entry, 1, Int32(clamping: deadline - now))
    guard found >= 0 || errno == EINTR else { throw noteLoss() }
  }

  private func throwIfLost() throws(PostgresError) {
    if let lossReason { throw .unreachable(lossReason) }
  }

  private func noteLoss(_ reason: String? = nil) -> PostgresError {
    let reason = reason ?? PostgresError.singleLine(unsafe String(cString: PQerrorMessage(handle)))
    lossReason = reason
    return .unreachable(reason)
  }
}

/// The rows of a result, in binary format.
@safe final class PostgresResult {
  private let handle: OpaquePointer

  init(_ handle: OpaquePointer) { unsafe self.handle = handle }

  deinit { unsafe PQclear(handle) }

  var count: Int { Int(unsafe PQntuples(handle)) }

  /// The integer in a column of two, four or eight bytes, or of the six of a `tid`; nil for NULL.
  func integer(_ row: Int, _ column: Int32) -> Int64? {
    withBytes(row, column) { bytes in
      var value: Int64 = bytes.count > 0 && bytes[0] >= 0x80 ? -1 : 0
      for index in bytes.indices { value = value << 8 | Int64(bytes[index]) }
      return value
    }
  }

  /// The number with the bits of a `bigint`; nil for NULL.
  func bits(_ row: Int, _ column: Int32) -> UInt64? {
    integer(row, column).map { UInt64(bitPattern: $0) }
  }

  /// The text in a column; nil for NULL.
  func text(_ row: Int, _ column: Int32) -> String? {
    bytes(row, column).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The text in the first column of the first row; nil if there is no row, or for NULL.
  var first: String? { count > 0 ? text(0, 0) : nil }

  /// A copy of the bytes in a column; nil for NULL.
  func bytes(_ row: Int, _ column: Int32) -> [UInt8]? {
    withBytes(row, column) { bytes in bytes.indices.map { bytes[$0] } }
  }

  /// Reads the bytes of a column in place; returns nil for NULL.
  func withBytes<Value, Failure: Error>(
    _ row: Int, _ column: Int32, _ read: (Span<UInt8>) throws(Failure) -> Value
  ) throws(Failure) -> Value? {
    guard unsafe PQgetisnull(handle, Int32(row), column) == 0 else { return nil }
    let buffer = unsafe UnsafeRawBufferPointer(
      start: PQgetvalue(handle, Int32(row), column),
      count: Int(PQgetlength(handle, Int32(row), column)))
    return try read(unsafe Span<UInt8>(_unsafeBytes: buffer))
  }
}

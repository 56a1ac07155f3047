/// A message that came from the daemon.
package struct ReceivedMessage: Sendable {
  /// The verb without the protocol's name.
  package var verb: String
  /// The JSON of the message.
  package var body: [UInt8]

  /// Makes a message from its frames.
  package init(verb: String, body: [UInt8]) {
    self.verb = verb
    self.body = body
  }
}

/// What a table of cases is run against: a hub in process, or a daemon behind a socket.
///
/// A driver only carries messages, time and faults; what they mean is the runner's business.
package protocol ConformanceDriver {
  /// Opens a connection under a name; nothing is said on it yet.
  ///
  /// A connection of the same name that is still open is given up.
  mutating func connect(_ name: String) throws
  /// Ends a connection as the loss of the peer does.
  ///
  /// What is sent under its name afterwards must arrive on a connection without a session.
  mutating func disconnect(_ name: String) throws
  /// Sends one message; the verb is without the protocol's name.
  mutating func send(_ name: String, verb: String, body: [UInt8]) throws
  /// The next message that arrived for a connection, or nil if none comes.
  ///
  /// A driver of another process waits, up to a deadline of its own.
  mutating func receive(_ name: String) throws -> ReceivedMessage?
  /// Lets time pass, and everything happen that falls due meanwhile.
  mutating func advance(milliseconds: UInt64) throws
  /// Ends the daemon and starts it again on the same journal; all connections are lost.
  mutating func restart() throws
  /// Makes the journal fail to write, or work again.
  mutating func setStorage(failing: Bool) throws
}

/// Why a row of the table does not hold, or cannot be read.
package struct ConformanceFailure: Error, CustomStringConvertible {
  /// Where: the file, its line, and the row's id if known.
  package var file: String
  /// The line in the file, from 1.
  package var line: Int
  /// The row.
  package var id: String?
  /// What is wrong.
  package var text: String

  /// Makes one that says what is wrong, and where.
  package init(file: String, line: Int, id: String? = nil, text: String) {
    self.file = file
    self.line = line
    self.id = id
    self.text = text
  }

  /// The whole as one line.
  package var description: String { "\(file):\(line): \(id.map { $0 + ": " } ?? "")\(text)" }
}

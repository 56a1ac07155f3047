import CLinux
import CSystemd

/// Sends one message to systemd's journal with these fields, each as "NAME=value"; returns whether
/// the journal took it.
package func sendToJournal(_ fields: [String]) -> Bool {
  let fields = fields.map { Array($0.utf8) }
  let bytes = fields.flatMap { $0 }
  return unsafe bytes.withUnsafeBytes { buffer in
    var start = 0
    var vectors: [iovec] = unsafe []
    for field in fields {
      let base = unsafe UnsafeMutableRawPointer(mutating: buffer.baseAddress?.advanced(by: start))
      unsafe vectors.append(iovec(iov_base: base, iov_len: field.count))
      start += field.count
    }
    // The vectors point into `bytes`, which lives until after the call.
    return unsafe sd_journal_sendv(vectors, Int32(vectors.count)) == 0
  }
}

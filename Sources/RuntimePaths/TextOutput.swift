import CLinux

/// Writes a text to a descriptor by one write(2), so that texts of several threads do not mix.
///
/// The function ignores errors, because there is nowhere else to report them.
package func writeText(_ text: String, to descriptor: Int32 = 2) {
  let bytes = Array(text.utf8)
  _ = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
}

import Glibc

/// The name of this machine, as the kernel has it; empty if it has none.
package func hostName() -> String {
  var name = [CChar](repeating: 0, count: 65)
  guard unsafe gethostname(&name, name.count - 1) == 0 else { return "" }
  return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

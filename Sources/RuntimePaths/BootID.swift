/// The kernel's random id of this boot of the machine: 32 hexadecimal digits in lower case.
///
/// navd.service hides `/proc/sys`, so systemd passes the id to navd in `NAVD_BOOT_ID`. Without that
/// variable, the function reads `/proc`. It removes the dashes of the kernel's form.
package func bootID(environment: ProcessEnvironment) throws(SystemError) -> String {
  if let handed = environment["NAVD_BOOT_ID"], let id = normalisedBootID(handed) { return id }
  let path = "/proc/sys/kernel/random/boot_id"
  let text = String(decoding: try readSmallFile(path, maximumBytes: 128), as: UTF8.self)
  guard let id = normalisedBootID(text) else { throw SystemError("understand", path, code: 22) }
  return id
}

private func normalisedBootID(_ text: String) -> String? {
  let digits = text.lowercased().filter { $0.isHexDigit }
  return digits.utf8.count == 32 ? digits : nil
}

/// The endpoints in a text that can name several.
///
/// A comma separates two only if a scheme follows, since a path can have one too.
///
/// - Parameter text: such as `tcp://192.0.2.11:7117,tcp://192.0.2.12:7117`.
/// - Returns: one endpoint at least.
package func endpoints(in text: String) -> [String] {
  var endpoints: [String] = []
  for part in text.split(separator: ",", omittingEmptySubsequences: false) {
    if part.contains("://") || endpoints.isEmpty {
      endpoints.append(String(part.drop { $0 == " " }))
    } else {
      endpoints[endpoints.count - 1] += "," + part
    }
  }
  return endpoints
}

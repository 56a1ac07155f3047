/// The endpoints in a text such as `tcp://192.0.2.11:7117,tcp://192.0.2.12:7117`, at least one.
///
/// A comma separates two only if a scheme follows, since a path can have one too.
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

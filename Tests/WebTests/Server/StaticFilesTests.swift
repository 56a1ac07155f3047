import Foundation
import RuntimePaths
import Testing

@testable import Web

@Suite struct StaticFilesTests {
  /// A directory with files, links and what must not be served.
  private func withPage(_ body: (StaticFiles, String) throws -> Void) throws {
    let outer = NSTemporaryDirectory() + "page-\(UUID().uuidString.prefix(8))"
    let page = outer + "/page"
    for path in [outer, page, page + "/img", page + "/.git"] { try createPrivateDirectory(path) }
    defer { try? FileManager.default.removeItem(atPath: outer) }
    for name in [
      "page/index.html", "page/app.js", "page/img/a.svg", "page/img/index.html", "page/.env.js",
      "page/.git/config.js", "page/secret.key", "page/noending", "secret.js",
    ] { try writeFileAtomically(outer + "/" + name, Array(name.utf8)) }
    let links = [
      ("page/out.js", outer + "/secret.js"), ("page/in.js", page + "/app.js"), ("page/up", outer),
      ("page/same", page + "/img"),
    ]
    for (link, target) in links {
      try FileManager.default.createSymbolicLink(
        atPath: outer + "/" + link, withDestinationPath: target)
    }
    try createPrivateDirectory(page + "/folder.js")
    #expect(unsafe mkfifo(page + "/pipe.js", 0o600) == 0)
    try body(try StaticFiles(page), outer)
  }

  @Test(arguments: [
    ("/", "text/html; charset=utf-8", 15), ("/index.html", "text/html; charset=utf-8", 15),
    ("/app.js", "text/javascript; charset=utf-8", 11), ("/img/a.svg", "image/svg+xml", 14),
    ("/img/", "text/html; charset=utf-8", 19),
  ])
  func `a file of the page has the type of its name`(path: String, type: String, size: Int64) throws
  {
    try withPage { files, _ in
      let found = try #require(files.find(path))
      #expect(found.type == type && found.file.size == size)
    }
  }

  @Test(arguments: [
    "", "index.html", "/none.js", "/secret.key", "/noending", "/.env.js", "/.git/config.js",
    "/../secret.js", "/img/../app.js", "/./app.js", "//app.js", "/img//a.svg", "/img",
    "/out.js", "/in.js", "/up/secret.js", "/same/a.svg", "/folder.js", "/pipe.js", "/app.js/",
    "/app.js\u{0}.html",
    "/up/\u{301}../secret.js", "/.\u{301}hidden.js", "/same/\u{301}b.svg", "/img\\a.svg", "/APP.JS",
    "/" + String(repeating: "a/", count: 600) + "a.js",
  ])
  func `no other path is served, and no link is followed`(path: String) throws {
    try withPage { files, _ in #expect(files.find(path) == nil, "\(path)") }
  }

  @Test func `every slash divides, and every first dot hides, whatever mark follows it`() {
    #expect(StaticFiles.components("/a/\u{301}b.js") == ["a", "\u{301}b.js"])
    #expect(StaticFiles.components("/a/.\u{301}b.js") == nil)
    #expect(StaticFiles.components("/a/\u{200D}/../b.js") == nil)
    #expect(StaticFiles.components("/a/") == ["a", "index.html"])
  }

  @Test func `a page that is not there is an error with its path`() throws {
    let error = #expect(throws: SystemError.self) { try StaticFiles("/nowhere/page") }
    #expect(error?.description.contains("/nowhere/page") == true)
  }
}

import CLinux
import NavigationClient

// ConsistencyWorker forks ENDPOINT: makes clients before and after a fork(2), and writes what they do.

enum Forks {
  /// Waits for a task on the calling thread, which has none.
  private static func wait(_ body: @escaping @Sendable () async -> Void) {
    let descriptor = eventfd(0, 0)
    Task.detached {
      await body()
      _ = eventfd_write(descriptor, 1)
    }
    var count: UInt64 = 0
    _ = unsafe eventfd_read(descriptor, &count)
  }

  /// Runs a function in a child; a child that hangs is ended.
  private static func child(_ name: String, _ body: @escaping () -> Void) {
    let context = unsafe Unmanaged.passRetained(Body(body)).toOpaque()
    let child = unsafe navd_start_child(
      { context in
        guard let context = unsafe context else { return 1 }
        alarm(60)
        unsafe Unmanaged<Body>.fromOpaque(context).takeUnretainedValue().run()
        return 0
      }, context)
    Lines.write("\(name) ended with \(navd_await_child(child))")
  }

  private final class Body {
    let run: () -> Void

    init(_ run: @escaping () -> Void) { self.run = run }
  }

  private static func connect(_ endpoint: String, _ name: String) {
    wait {
      do {
        let client = try await NavigationClient.connect(
          endpoint: endpoint, name: name, timeout: .seconds(60))
        _ = try await client.read(.state, of: "kiosk")
        Lines.write("\(name) works")
      } catch {
        Lines.write("\(name) fails: \(error)")
      }
    }
  }

  static func run(_ endpoint: String) throws {
    child("the first child") { connect(endpoint, "a client of a child") }
    let client = try NavigationClient(endpoint: endpoint, name: "parent")
    wait {
      let code = await code { _ = try await client.state(of: "kiosk") }
      Lines.write("the parent has \(code)")
    }
    child("the second child") {
      do {
        _ = try NavigationClient(endpoint: endpoint)
      } catch {
        Lines.write("another client is \(code(of: error))")
      }
      // Nothing waits, so the task runs to its end here, without a thread of Swift's.
      Task.immediate {
        for (name, call) in calls(of: client) {
          Lines.write("\(name) is \(await code(call))")
        }
      }
      Lines.write(
        "synchronised \(client.isSynchronised("kiosk")), features \(client.features.count)")
      client.close()
    }
    wait {
      let code = await code { _ = try await client.read(.state, of: "kiosk") }
      Lines.write("the parent still has \(code)")
    }
  }

  private typealias Call = @Sendable () async throws -> Void

  private static func calls(of client: NavigationClient) -> [(String, Call)] {
    [
      (
        "perform",
        { _ = try await client.perform([.popToRoot()], on: "kiosk", guardedBy: .unguarded) }
      ),
      ("read", { _ = try await client.read(.state, of: "kiosk") }),
      ("state", { _ = try await client.state(of: "kiosk") }),
      ("takeDisplay", { _ = try await client.takeDisplay(of: "kiosk") }),
    ]
  }

  private static func code(_ call: Call) async -> String {
    do {
      try await call()
      return "ok"
    } catch {
      return code(of: error)
    }
  }

  private static func code(of error: any Error) -> String {
    (error as? NavigationClientError)?.code.rawValue ?? "\(error)"
  }
}

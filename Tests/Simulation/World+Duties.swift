import NavigationClient
import NavigationCore

// Delegates and holders of the display, in a part of the worlds: some answer late, some never, and some
// end with a question open.

extension World {
  /// Registers or ends roles of a client, or its hold of the display.
  mutating func changeDuty(_ client: Int, _ nav: String) {
    guard duties.chance(850) else {
      let wish: LeaseAction = duties.pick(.take, .take, .release)
      let isKept = duties.chance(500)
      return perform(clients[client].session.lease(nav, wish, isKept: isKept), for: client)
    }
    let roles: [DelegateRole] = [.veto, .animator, .interaction]
    let chosen = Set(roles.filter { _ in duties.chance(600) })
    perform(
      clients[client].session.delegate(nav, DelegateRegistration(roles: chosen)), for: client)
  }

  mutating func note(_ event: DutyEvent, _ client: Int) {
    guard case .asked(let id, let ask) = event else { return }
    count { $0.questions += 1 }
    demand(facts.epochs.contains(ask.epoch), "c\(client) is asked about \(ask.epoch.text)")
    clients[client].questions.append((id, ask.question))
  }

  /// Answers the oldest question of each client, or forgets it.
  mutating func answerQuestions() {
    for client in clients.indices where !clients[client].questions.isEmpty && duties.chance(400) {
      let (id, question) = clients[client].questions.removeFirst()
      guard duties.chance(800) else { continue }
      perform(
        clients[client].session.answer(id, value: Array(answer(to: question).utf8)), for: client)
    }
  }

  private mutating func answer(to question: Question) -> String {
    switch question {
    case .shouldPush, .shouldPop, .shouldDismiss: duties.pick("true", "true", "false", "7")
    case .animatorFor: duties.pick("{\"animator\":\"a\",\"duration\":300}", "null", "{}")
    case .interactionFor: duties.pick("{\"driver\":\"d\"}", "null")
    case .unknown: "null"
    }
  }
}

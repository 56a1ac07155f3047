#include "navigationmodel.h"

#include "rows.h"

#include <algorithm>

NavigationModel::NavigationModel(QObject *parent) : QAbstractListModel(parent) {}

NavigationModel::~NavigationModel() {
  unwatch();
  if (m_client) m_client->remove(this);
}

void NavigationModel::setClient(NavdClient *client) {
  if (m_client == client) return;
  unwatch();
  if (m_client) m_client->remove(this);
  m_client = client;
  if (m_client) m_client->add(this);
  leave();
  const bool goesOn = this->goesOn([&] {
    failOpen();
    settle();
    emit clientChanged();
  });
  if (goesOn) watch();
}

void NavigationModel::loseClient() {
  m_isWatched = false;
  const QPointer<NavigationModel> self(this);
  m_client = nullptr;
  m_waiting.clear();
  failOpen();
  if (self && setSynced(false)) emit clientChanged();
}

void NavigationModel::setNav(const QString &nav) {
  if (m_nav == nav) return;
  unwatch();
  m_nav = nav;
  leave();
  const bool goesOn = this->goesOn([&] {
    settle();
    emit navChanged();
  });
  if (goesOn) watch();
}

void NavigationModel::componentComplete() {
  m_isComplete = true;
  watch();
}

void NavigationModel::watch() {
  if (!m_isComplete || !m_client || !m_client->handle() || m_nav.isEmpty()) return;
  const QByteArray nav = m_nav.toUtf8();
  navd_error *error = nullptr;
  if (navd_watch(m_client->handle(), nav.constData(), m_waits, &error) != NAVD_OK) {
    fail(0, error);
    navd_error_free(error);
    return;
  }
  m_isWatched = true;
  // A watch that another model began gives no first state.
  char *state = nullptr;
  if (m_client->shows(m_nav, this) && navd_is_synced(m_client->handle(), nav.constData()) == 1)
    navd_state(m_client->handle(), nav.constData(), &state, nullptr);
  if (!state) return;
  m_waiting.append({NAVD_EVENT_STATE, taken(state), {}, {}});
  settle();
}

/// Ends the watch without a signal.
void NavigationModel::unwatch() {
  if (!m_isWatched) return;
  m_isWatched = false;
  if (!m_client || !m_client->handle()) return;
  // Another model of the client may show the same nav.
  if (!m_client->shows(m_nav, this))
    navd_unwatch(m_client->handle(), m_nav.toUtf8().constData(), nullptr);
}

/// Forgets the picture at once, because it must not be taken for that of another nav or client. The rows
/// go when no signal about them runs.
void NavigationModel::leave() {
  m_turn++;
  m_waiting.clear();
  m_isStale = m_isStale || !m_picture.text.isEmpty() || !m_screens.isEmpty();
  m_picture = Picture();
}

void NavigationModel::clear() {
  m_isStale = false;
  bool isBarChanged = false;
  if (!setScreens(Picture(), &isBarChanged)) return;
  if (isBarChanged && !goesOn([&] { emit m_bar.changed(); })) return;
  emit changed({}, false);
}

int NavigationModel::rowCount(const QModelIndex &parent) const {
  return parent.isValid() ? 0 : int(m_screens.size());
}

QVariant NavigationModel::data(const QModelIndex &index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const QJsonValue screen = m_screens[index.row()];
  switch (role) {
  case ScreenId: return screen["id"].toString();
  case Qt::DisplayRole:
  case Title: return screen["title"].toString();
  case Route: return screen["route"].toString();
  case Args: return screen["args"].toVariant();
  case Version: return screen["ver"].toVariant();
  case Record: return screen.toVariant();
  case AccessibilityLabel:
    // As in UIKit, the label of the item is said for its title.
    for (const QJsonValue &said : {screen["accessibilityLabel"], screen["item"]["accessibilityLabel"]})
      if (said.isString()) return said.toString();
    return screen["title"].toString();
  case Language: return screen["language"].toString();
  default: return {};
  }
}

QHash<int, QByteArray> NavigationModel::roleNames() const {
  return {{ScreenId, "screenId"}, {Title, "title"},     {Route, "route"},
          {Args, "args"},         {Version, "version"}, {Record, "record"},
          {AccessibilityLabel, "accessibilityLabel"}, {Language, "language"}};
}

void NavigationModel::take(const navd_event *event) {
  const navd_kind kind = navd_event_kind(event);
  const bool isOurs = !m_nav.isEmpty() && m_nav == QString(navd_event_nav(event));
  Waiting waiting = {kind, {}, {}, {}};
  switch (kind) {
  case NAVD_EVENT_STATE:
    if (!isOurs) return;
    waiting.state = navd_event_json(event);
    waiting.change = object(navd_event_change(event));
    if (!m_waiting.isEmpty() && m_waiting.last().kind == kind) {
      // The newest state, with the events of both.
      QJsonArray events = m_waiting.last().change["ev"].toArray();
      for (const QJsonValue &each : waiting.change["ev"].toArray()) events.append(each);
      waiting.change["ev"] = events;
      m_waiting.removeLast();
    }
    break;
  case NAVD_EVENT_SUSPECT:
    if (!isOurs) return;
    break;
  case NAVD_EVENT_DISCONNECTED: break;
  case NAVD_EVENT_CLOSED: m_isWatched = false; break;
  case NAVD_EVENT_ACTIVITY:
    if (!isOurs) return;
    waiting.change = object(navd_event_json(event));
    break;
  case NAVD_EVENT_ENDED:
    if (!isOurs) return;
    waiting.code = navd_error_code(navd_event_error(event));
    m_isWatched = m_waits && waiting.code == "closed";
    break;
  default: return;
  }
  m_waiting.append(waiting);
}

void NavigationModel::settle() {
  if (!m_isStale && m_waiting.isEmpty()) return;
  // A handler runs an event loop. The view behind it would take a second change for a part of the first.
  if (m_isSignalling) {
    setSynced(false);
    return;
  }
  const QPointer<NavigationModel> self(this);
  m_isSignalling = true;
  while (self && (m_isStale || !m_waiting.isEmpty())) {
    if (m_isStale) {
      if (setSynced(false)) clear();
    } else {
      handle(m_waiting.takeFirst());
    }
  }
  if (self) m_isSignalling = false;
}

void NavigationModel::handle(const Waiting &event) {
  switch (event.kind) {
  case NAVD_EVENT_STATE: return show(event.state, event.change);
  case NAVD_EVENT_ACTIVITY: return emitEvents(event.change["ev"].toArray());
  case NAVD_EVENT_ENDED:
    if (setSynced(false)) emit ended(event.code);
    return;
  default: setSynced(false);
  }
}

void NavigationModel::answer(const navd_event *event) {
  if (navd_event_kind(event) != NAVD_EVENT_ANSWER) return;
  const qulonglong request = navd_event_id(event);
  if (m_requests.removeAll(request) == 0) return;
  const navd_error *error = navd_event_error(event);
  const bool isCreation = request == m_creation;
  if (isCreation) m_creation = 0;
  const bool exists = isCreation && error && qstrcmp(navd_error_code(error), "nav-exists") == 0;
  // Without a nav there was no watch.
  if (isCreation && !m_isWatched && !goesOn([&] { watch(); })) return;
  if (error && !exists)
    fail(request, error);
  else
    emit succeeded(request, object(navd_event_json(event)).toVariantMap());
}

void NavigationModel::show(const QByteArray &text, const QJsonObject &change) {
  Picture next = {text, object(text.constData()), {}, {}};
  next.screens = next.state["screens"].toArray();
  for (const QJsonValue &entry : next.state.value("presented")["chain"].toArray())
    next.presented.append(entry["screen"].toVariant());
  bool isBarChanged = false;
  if (!setScreens(next, &isBarChanged)) return;
  if (isBarChanged && !goesOn([&] { emit m_bar.changed(); })) return;
  if (!setSynced(m_client && m_client->handle())) return;
  const bool isAnimated = change["animated"].toBool();
  if (!goesOn([&] { emit changed(change["cause"].toString(), isAnimated); })) return;
  emitEvents(change["ev"].toArray());
}

/// Makes the next picture the shown one, and its screens the rows; returns whether the model goes on.
///
/// A row whose screen was replaced changes in place. With the last row signal, the rows and everything
/// else are those of the next picture.
bool NavigationModel::setScreens(const Picture &next, bool *isBarChanged) {
  const auto ids = [](const QJsonArray &screens) {
    QStringList list;
    for (const QJsonValue &screen : screens) list.append(screen["id"].toString());
    return list;
  };
  QStringList rows = ids(m_screens);
  const QStringList former = rows, nextRows = ids(next.screens);
  for (int at = 0; at < std::min(rows.size(), nextRows.size()); at++)
    if (!nextRows.contains(rows[at]) && !former.contains(nextRows[at])) rows[at] = nextRows[at];
  const QList<RowStep> steps = rowSteps(rows, nextRows);
  const auto adopt = [&] {
    m_picture = next;
    *isBarChanged = m_bar.set(next.state["resolved"]);
  };
  if (steps.isEmpty()) adopt();
  for (int at = 0; at < rows.size(); at++) {
    const int there = nextRows.indexOf(rows[at]);
    if (there < 0 || m_screens.at(at) == next.screens.at(there)) continue;
    m_screens[at] = next.screens[there];
    const QModelIndex row = index(at);
    if (!goesOn([&] { emit dataChanged(row, row); })) return false;
  }
  for (const RowStep &step : steps) {
    const bool isLast = &step == &steps.last();
    const bool goesOn = this->goesOn([&] {
      switch (step.kind) {
      case RowStep::Remove:
        beginRemoveRows({}, step.first, step.last);
        for (int at = step.last; at >= step.first; at--) m_screens.removeAt(at);
        if (isLast) adopt();
        return endRemoveRows();
      case RowStep::Move:
        beginMoveRows({}, step.first, step.first, {}, step.to);
        m_screens.insert(step.to > step.first ? step.to - 1 : step.to, m_screens.takeAt(step.first));
        if (isLast) adopt();
        return endMoveRows();
      case RowStep::Insert:
        beginInsertRows({}, step.first, step.last);
        for (int at = step.first; at <= step.last; at++) m_screens.insert(at, next.screens[at]);
        if (isLast) adopt();
        return endInsertRows();
      }
    });
    if (!goesOn) return false;
  }
  return true;
}

void NavigationModel::emitEvents(const QJsonArray &events) {
  for (const QJsonValue &event : events) {
    const QJsonObject named = event.toObject();
    for (auto each = named.begin(); each != named.end(); ++each)
      if (!goesOn([&] { emit eventOccurred(each.key(), each.value().toObject().toVariantMap()); })) return;
  }
}

/// Returns whether the model goes on after the signal.
bool NavigationModel::setSynced(bool isSynced) {
  if (m_isSynced == isSynced) return true;
  m_isSynced = isSynced;
  return goesOn([&] { emit syncedChanged(); });
}

void NavigationModel::fail(qulonglong request, const navd_error *error) {
  // In a child of fork, nothing else shows the client that it has ended.
  const QPointer<NavigationModel> self(this);
  if (m_client && qstrcmp(navd_error_code(error), "forked") == 0) m_client->take();
  if (!self) return;
  emit failed(request, navd_error_code(error), navd_error_message(error), navd_error_advice(error),
              object(navd_error_json(error)).toVariantMap());
}

/// Answers the requests of a client that the model has no more.
void NavigationModel::failOpen() {
  const QList<qulonglong> requests = m_requests;
  m_requests.clear();
  m_creation = 0;
  const QPointer<NavigationModel> self(this);
  for (const qulonglong request : requests) {
    if (!self) return;
    emit failed(request, "closed", "the model left its client before the answer came",
                "look at the state, then decide again", {{"code", "closed"}, {"effect", "unknown"}});
  }
}

qulonglong NavigationModel::submit(const QByteArray &operations, const char *basis, int within) {
  uint64_t request = 0;
  navd_error *error = nullptr;
  char *guard = nullptr;
  navd_client *client = m_client ? m_client->handle() : nullptr;
  navd_status status = NAVD_OK;
  if (basis)
    status = navd_guard(client, m_picture.text.isEmpty() ? "{}" : m_picture.text.constData(), basis, &guard,
                        &error);
  if (status == NAVD_OK)
    status = navd_submit(client, m_nav.toUtf8().constData(), operations.constData(), guard, 0,
                         within, &request, &error);
  navd_string_free(guard);
  if (status != NAVD_OK) {
    fail(0, error);
    navd_error_free(error);
    return 0;
  }
  m_requests.append(request);
  return request;
}

qulonglong NavigationModel::push(const QVariant &screen) {
  return submit("[{\"push\":{\"screen\":" + json(screen) + "}}]", nullptr);
}

qulonglong NavigationModel::pop(const QVariant &result) {
  const QByteArray arguments = result.isValid() ? "{\"result\":" + json(result) + "}" : "{}";
  return submit("[{\"pop\":" + arguments + "}]", "top");
}

qulonglong NavigationModel::popTo(const QString &screen) {
  return submit("[{\"popTo\":{\"screen\":" + json(screen) + "}}]", "epoch");
}

qulonglong NavigationModel::popToRoot() { return submit("[{\"popToRoot\":{}}]", "stack"); }

qulonglong NavigationModel::back() { return submit("[{\"ui.backTap\":{}}]", "top"); }

qulonglong NavigationModel::activate(const QString &button, const QString &element) {
  QByteArrayList members;
  if (!button.isEmpty()) members << "\"button\":" + json(button);
  if (!element.isEmpty()) members << "\"element\":" + json(element);
  return submit("[{\"button.activate\":{" + members.join(',') + "}}]", "epoch");
}

qulonglong NavigationModel::perform(const QVariantList &operations, const QString &basis) {
  return submit(json(operations), basis.isEmpty() ? nullptr : basis.toLatin1().constData());
}

qulonglong NavigationModel::create(const QVariant &root) {
  const QByteArray operations = "[{\"nav.create\":{\"root\":" + json(root) + "}},{\"attach\":{}}]";
  return m_creation = submit(operations, nullptr, -1);
}

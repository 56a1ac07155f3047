#include "navigationmodel.h"

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
  clear();
  emit clientChanged();
  watch();
}

void NavigationModel::setNav(const QString &nav) {
  if (m_nav == nav) return;
  unwatch();
  m_nav = nav;
  clear();
  emit navChanged();
  watch();
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
  if (state) show(state, {});
  navd_string_free(state);
}

void NavigationModel::unwatch() {
  if (!m_isWatched) return;
  m_isWatched = false;
  setSynced(false);
  if (!m_client || !m_client->handle()) return;
  // Another model of the client may show the same nav.
  if (!m_client->shows(m_nav, this))
    navd_unwatch(m_client->handle(), m_nav.toUtf8().constData(), nullptr);
}

/// Shows nothing, because the state of another nav must not be taken for that of this one.
void NavigationModel::clear() {
  if (m_shown.isEmpty()) return;
  m_shown.clear();
  m_state = QJsonObject();
  m_presented.clear();
  setScreens(QJsonArray());
  m_bar.set(QJsonValue());
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
  default: return {};
  }
}

QHash<int, QByteArray> NavigationModel::roleNames() const {
  return {{ScreenId, "screenId"}, {Title, "title"},     {Route, "route"},
          {Args, "args"},         {Version, "version"}, {Record, "record"}};
}

void NavigationModel::handle(const navd_event *event) {
  const QString nav = navd_event_nav(event);
  const bool isOurs = nav == m_nav && !m_nav.isEmpty();
  switch (navd_event_kind(event)) {
  case NAVD_EVENT_STATE:
    if (isOurs) show(navd_event_json(event), object(navd_event_change(event)));
    return;
  case NAVD_EVENT_SUSPECT:
    if (isOurs) setSynced(false);
    return;
  case NAVD_EVENT_DISCONNECTED: setSynced(false); return;
  case NAVD_EVENT_CLOSED:
    m_isWatched = false;
    setSynced(false);
    return;
  case NAVD_EVENT_ACTIVITY:
    if (isOurs) emitEvents(object(navd_event_json(event))["ev"]);
    return;
  case NAVD_EVENT_ENDED: {
    if (!isOurs) return;
    const QString code = navd_error_code(navd_event_error(event));
    m_isWatched = m_waits && code == "closed";
    setSynced(false);
    emit ended(code);
    return;
  }
  case NAVD_EVENT_ANSWER: {
    const qulonglong request = navd_event_id(event);
    if (m_requests.removeAll(request) == 0) return;
    const navd_error *error = navd_event_error(event);
    const bool isCreation = request == m_creation;
    if (isCreation) m_creation = 0;
    const bool exists = isCreation && error && qstrcmp(navd_error_code(error), "nav-exists") == 0;
    // Without a nav there was no watch.
    if (isCreation && !m_isWatched) watch();
    if (error && !exists)
      fail(request, error);
    else
      emit succeeded(request, object(navd_event_json(event)).toVariantMap());
    return;
  }
  default: return;
  }
}

void NavigationModel::show(const char *state, const QJsonObject &change) {
  m_shown = state;
  m_state = object(m_shown.constData());
  m_presented.clear();
  for (const QJsonValue &entry : m_state.value("presented")["chain"].toArray())
    m_presented.append(entry["screen"].toVariant());
  setScreens(m_state["screens"].toArray());
  m_bar.set(m_state["resolved"]);
  setSynced(true);
  emit changed(change["cause"].toString(), change["animated"].toBool());
  emitEvents(change["ev"]);
}

/// Changes only the rows between the equal ones at both ends, so that views keep their delegates.
void NavigationModel::setScreens(const QJsonArray &screens) {
  const auto id = [](const QJsonArray &list, qsizetype at) { return list[at]["id"].toString(); };
  const qsizetype before = m_screens.size(), after = screens.size();
  qsizetype first = 0, last = 0;
  while (first < std::min(before, after) && id(m_screens, first) == id(screens, first)) first++;
  while (last < std::min(before, after) - first &&
         id(m_screens, before - 1 - last) == id(screens, after - 1 - last))
    last++;
  const QJsonArray old = m_screens;
  if (first + last < before) {
    beginRemoveRows({}, int(first), int(before - last - 1));
    for (qsizetype at = before - last; at-- > first;) m_screens.removeAt(at);
    endRemoveRows();
  }
  if (first + last < after) {
    beginInsertRows({}, int(first), int(after - last - 1));
    m_screens = screens;
    endInsertRows();
  }
  m_screens = screens;
  for (qsizetype at = 0; at < after; at++) {
    const bool isKept = at < first || at >= after - last;
    const qsizetype formerly = at < first ? at : at + before - after;
    if (isKept && old[formerly] != screens[at]) emit dataChanged(index(int(at)), index(int(at)));
  }
}

void NavigationModel::emitEvents(const QJsonValue &events) {
  for (const QJsonValue &event : events.toArray()) {
    const QJsonObject named = event.toObject();
    for (auto each = named.begin(); each != named.end(); ++each)
      emit eventOccurred(each.key(), each.value().toObject().toVariantMap());
  }
}

void NavigationModel::setSynced(bool isSynced) {
  if (m_isSynced == isSynced) return;
  m_isSynced = isSynced;
  emit syncedChanged();
}

void NavigationModel::fail(qulonglong request, const navd_error *error) {
  // In a child of fork, nothing else shows the client that it has ended.
  if (m_client && qstrcmp(navd_error_code(error), "forked") == 0) m_client->take();
  emit failed(request, navd_error_code(error), navd_error_message(error), navd_error_advice(error),
              object(navd_error_json(error)).toVariantMap());
}

qulonglong NavigationModel::submit(const QByteArray &operations, const char *basis, int within) {
  uint64_t request = 0;
  navd_error *error = nullptr;
  char *guard = nullptr;
  navd_client *client = m_client ? m_client->handle() : nullptr;
  navd_status status = NAVD_OK;
  if (basis)
    status = navd_guard(client, m_shown.isEmpty() ? "{}" : m_shown.constData(), basis, &guard, &error);
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

qulonglong NavigationModel::activate(const QString &button) {
  return submit("[{\"button.activate\":{\"button\":" + json(button) + "}}]", "epoch");
}

qulonglong NavigationModel::perform(const QVariantList &operations, const QString &basis) {
  return submit(json(operations), basis.isEmpty() ? nullptr : basis.toLatin1().constData());
}

qulonglong NavigationModel::create(const QVariant &root) {
  const QByteArray operations = "[{\"nav.create\":{\"root\":" + json(root) + "}},{\"attach\":{}}]";
  return m_creation = submit(operations, nullptr, -1);
}

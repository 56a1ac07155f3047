#include "navdclient.h"

#include "navigationmodel.h"

#include <algorithm>

NavdClient::NavdClient(QObject *parent) : QObject(parent) {
  m_retry.setSingleShot(true);
  m_retry.setInterval(1000);
  connect(&m_retry, &QTimer::timeout, this, &NavdClient::open);
}

NavdClient::~NavdClient() { end(); }

void NavdClient::componentComplete() {
  m_isComplete = true;
  open();
}

void NavdClient::open() {
  if (m_client || !m_isComplete) return;
  const QByteArray endpoint = m_endpoint.toUtf8();
  const QByteArray name = m_name.toUtf8();
  navd_options options = {};
  options.size = sizeof options;
  options.endpoint = endpoint.isEmpty() ? nullptr : endpoint.constData();
  options.name = name.constData();
  navd_error *error = nullptr;
  if (navd_connect(&options, 0, &m_client, &error) != NAVD_OK) {
    emit failed(navd_error_code(error), navd_error_message(error), navd_error_advice(error));
    navd_error_free(error);
    m_retry.start();
    return;
  }
  m_notifier = std::make_unique<QSocketNotifier>(navd_fd(m_client), QSocketNotifier::Read);
  connect(m_notifier.get(), &QSocketNotifier::activated, this, &NavdClient::take);
  const QList<NavigationModel *> models = m_models;
  for (NavigationModel *model : models) model->watch();
}

void NavdClient::end() {
  m_notifier.reset();
  navd_client_free(m_client);
  m_client = nullptr;
}

void NavdClient::add(NavigationModel *model) {
  if (!m_models.contains(model)) m_models.append(model);
}

void NavdClient::remove(NavigationModel *model) { m_models.removeAll(model); }

bool NavdClient::shows(const QString &nav, const NavigationModel *but) const {
  return std::any_of(m_models.begin(), m_models.end(), [&](const NavigationModel *model) {
    return model != but && model->isWatched() && model->nav() == nav;
  });
}

void NavdClient::take() {
  while (m_client) {
    navd_event *event = navd_next(m_client);
    if (!event) return;
    handle(event);
    navd_event_free(event);
  }
}

void NavdClient::handle(const navd_event *event) {
  switch (navd_event_kind(event)) {
  case NAVD_EVENT_CONNECTED:
    m_features = object(navd_event_json(event))["features"].toVariant().toStringList();
    setConnected(true);
    return;
  case NAVD_EVENT_DISCONNECTED:
    setConnected(false);
    pass(event);
    return;
  case NAVD_EVENT_CLOSED: {
    const navd_error *error = navd_event_error(event);
    emit failed(navd_error_code(error), navd_error_message(error), navd_error_advice(error));
    end();
    setConnected(false);
    pass(event);
    m_retry.start();
    return;
  }
  default: pass(event);
  }
}

void NavdClient::pass(const navd_event *event) {
  // A handler of the program may remove models.
  const QList<NavigationModel *> models = m_models;
  for (NavigationModel *model : models)
    if (m_models.contains(model)) model->handle(event);
}

void NavdClient::setConnected(bool isConnected) {
  if (m_isConnected == isConnected) return;
  m_isConnected = isConnected;
  emit connectedChanged();
}

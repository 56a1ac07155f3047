#include "navdclient.h"

#include "navigationmodel.h"

#include <algorithm>

NavdClient::NavdClient(QObject *parent) : QObject(parent) {
  m_retry.setSingleShot(true);
  m_retry.setInterval(1000);
  connect(&m_retry, &QTimer::timeout, this, &NavdClient::open);
}

NavdClient::~NavdClient() {
  end();
  for (const QPointer<NavigationModel> &model : models())
    if (model) model->loseClient();
}

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
  m_notifier = new QSocketNotifier(navd_fd(m_client), QSocketNotifier::Read, this);
  connect(m_notifier, &QSocketNotifier::activated, this, &NavdClient::take);
  for (const QPointer<NavigationModel> &model : models())
    if (model) model->watch();
}

void NavdClient::end() {
  if (m_notifier) {
    // This may run in its signal.
    m_notifier->setEnabled(false);
    m_notifier->deleteLater();
    m_notifier = nullptr;
  }
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

QList<QPointer<NavigationModel>> NavdClient::models() const {
  return QList<QPointer<NavigationModel>>(m_models.begin(), m_models.end());
}

void NavdClient::take() {
  // The descriptor stays readable while there are more, so timers and input have their turn.
  const QPointer<NavdClient> self(this);
  for (int count = 0; self && m_client && count < 8; count++) {
    navd_event *event = navd_next(m_client);
    if (!event) return;
    handle(event);
    navd_event_free(event);
  }
}

/// Handles an event. Any signal may delete the client and its models, or run an event loop that handles
/// the next events.
void NavdClient::handle(const navd_event *event) {
  const QPointer<NavdClient> self(this);
  const QList<QPointer<NavigationModel>> models = this->models();
  // First each model gets the event, so that none gets a later one before it.
  for (NavigationModel *model : models) model->take(event);
  switch (navd_event_kind(event)) {
  case NAVD_EVENT_CONNECTED:
    m_features = object(navd_event_json(event))["features"].toVariant().toStringList();
    setConnected(true);
    break;
  case NAVD_EVENT_DISCONNECTED: setConnected(false); break;
  case NAVD_EVENT_CLOSED: {
    const navd_error *error = navd_event_error(event);
    end();
    m_retry.start();
    emit failed(navd_error_code(error), navd_error_message(error), navd_error_advice(error));
    if (self) setConnected(false);
    break;
  }
  default: break;
  }
  for (const QPointer<NavigationModel> &model : models)
    if (model) model->settle();
  for (const QPointer<NavigationModel> &model : models)
    if (self && model && model->client() == this) model->answer(event);
}

void NavdClient::setConnected(bool isConnected) {
  if (m_isConnected == isConnected) return;
  m_isConnected = isConnected;
  emit connectedChanged();
}

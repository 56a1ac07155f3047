#pragma once

#include <QObject>
#include <QPointer>
#include <QQmlParserStatus>
#include <QSocketNotifier>
#include <QTimer>
#include <QtQml/qqmlregistration.h>

#include "text.h"

class NavigationModel;

/// A session with navd, for all models of a program.
///
/// It connects when it is complete, without blocking, and connects again after each loss. Later changes
/// of `endpoint` and `name` have no effect. Use it in the thread of the QML engine.
class NavdClient : public QObject, public QQmlParserStatus {
  Q_OBJECT
  Q_INTERFACES(QQmlParserStatus)
  QML_ELEMENT
  /// The address of the daemon; empty for $NAVD_ENDPOINT or the socket of the system.
  Q_PROPERTY(QString endpoint MEMBER m_endpoint NOTIFY endpointChanged)
  /// The name of the program in logs and lists.
  Q_PROPERTY(QString name MEMBER m_name NOTIFY nameChanged)
  /// Whether the session is open; show people that the display may be old while it is not.
  Q_PROPERTY(bool connected READ isConnected NOTIFY connectedChanged)
  /// The names of what the daemon has beside those that run alone.
  Q_PROPERTY(QStringList features READ features NOTIFY connectedChanged)

public:
  explicit NavdClient(QObject *parent = nullptr);
  ~NavdClient() override;

  bool isConnected() const { return m_isConnected; }
  QStringList features() const { return m_features; }
  navd_client *handle() const { return m_client; }

  void classBegin() override {}
  void componentComplete() override;

  /// Adds a model, which gets the events of its nav.
  void add(NavigationModel *model);
  void remove(NavigationModel *model);
  /// Handles some of the events that have arrived.
  void take();
  /// Whether another model than this one shows a nav.
  bool shows(const QString &nav, const NavigationModel *but) const;

signals:
  void endpointChanged();
  void nameChanged();
  void connectedChanged();
  /// There is no session, or it has ended for good: the code, a sentence for logs, and what to do.
  /// The client tries again after a second.
  void failed(const QString &code, const QString &message, const QString &advice);

private:
  void open();
  void end();
  void handle(const navd_event *event);
  QList<QPointer<NavigationModel>> models() const;
  void setConnected(bool isConnected);

  QString m_endpoint;
  QString m_name;
  QStringList m_features;
  QList<NavigationModel *> m_models;
  navd_client *m_client = nullptr;
  QSocketNotifier *m_notifier = nullptr;
  QTimer m_retry;
  bool m_isConnected = false;
  bool m_isComplete = false;
};

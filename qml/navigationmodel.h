#pragma once

#include <QAbstractListModel>
#include <QJsonArray>
#include <QPointer>
#include <QQmlParserStatus>
#include <QtQml/qqmlregistration.h>

#include "navdclient.h"
#include "navigationbar.h"

/// The screens of a nav, bottom first, and what belongs to them.
///
/// The model shows the changes of all clients, as navd has confirmed them. Its functions return at once
/// with the number of the request, or 0 if nothing was sent; `succeeded` or `failed` has that number.
/// Removals are guarded by the state that the model shows, so they never remove other screens.
class NavigationModel : public QAbstractListModel, public QQmlParserStatus {
  Q_OBJECT
  Q_INTERFACES(QQmlParserStatus)
  QML_ELEMENT
  Q_PROPERTY(NavdClient *client READ client WRITE setClient NOTIFY clientChanged)
  /// The name of the nav.
  Q_PROPERTY(QString nav READ nav WRITE setNav NOTIFY navChanged)
  /// Whether the model waits for a nav that does not exist yet, and after `ended` for the next one.
  Q_PROPERTY(bool wait MEMBER m_waits NOTIFY waitChanged)
  /// The milliseconds, at least 100, in which a request of the functions below begins or fails as
  /// `expired`; -1 for no limit.
  Q_PROPERTY(int within MEMBER m_within NOTIFY withinChanged)
  /// Whether the model is known to show the present state.
  Q_PROPERTY(bool synced READ isSynced NOTIFY syncedChanged)
  Q_PROPERTY(int count READ count NOTIFY changed)
  Q_PROPERTY(NavigationBar *bar READ bar CONSTANT)
  /// The records of the top screen, and of the outermost presented one or else the top; undefined
  /// without screens.
  Q_PROPERTY(QVariant top READ top NOTIFY changed)
  Q_PROPERTY(QVariant visible READ visible NOTIFY changed)
  /// The records of the presented screens, outermost last.
  Q_PROPERTY(QVariantList presented READ presented NOTIFY changed)
  /// The open transition: `tid`, `op`, `from`, `to`; without `tid` none is open.
  Q_PROPERTY(QVariantMap transition READ transition NOTIFY changed)
  Q_PROPERTY(qulonglong revision READ revision NOTIFY changed)

public:
  enum Role { ScreenId = Qt::UserRole + 1, Title, Route, Args, Version, Record, AccessibilityLabel, Language };

  explicit NavigationModel(QObject *parent = nullptr);
  ~NavigationModel() override;

  NavdClient *client() const { return m_client; }
  void setClient(NavdClient *client);
  QString nav() const { return m_nav; }
  void setNav(const QString &nav);
  bool isSynced() const { return m_isSynced; }
  bool isWatched() const { return m_isWatched; }
  int count() const { return m_screens.size(); }
  NavigationBar *bar() { return &m_bar; }
  QVariant top() const { return m_picture.screens.isEmpty() ? QVariant() : m_picture.screens.last().toVariant(); }
  QVariant visible() const { return m_picture.presented.isEmpty() ? top() : m_picture.presented.last(); }
  QVariantList presented() const { return m_picture.presented; }
  QVariantMap transition() const { return m_picture.state["transition"].toObject().toVariantMap(); }
  qulonglong revision() const { return m_picture.state["rev"].toVariant().toULongLong(); }

  int rowCount(const QModelIndex &parent = {}) const override;
  QVariant data(const QModelIndex &index, int role) const override;
  QHash<int, QByteArray> roleNames() const override;

  void classBegin() override {}
  void componentComplete() override;

  /// Watches the nav at the client, if both are known.
  void watch();
  /// Keeps an event of the client, if it is about the nav, without a signal.
  void take(const navd_event *event);
  /// Shows what waits, unless signals of the model run already: then those go first.
  void settle();
  /// Reports the answer to a request of the model.
  void answer(const navd_event *event);
  /// Notes that the client is being destroyed.
  void loseClient();

  /// Puts a screen on top: an object with `id`, `title`, `route`, `args`, `item`, or the id of a
  /// known screen.
  Q_INVOKABLE qulonglong push(const QVariant &screen);
  /// Pops the top screen, if it is the one that the model shows.
  Q_INVOKABLE qulonglong pop(const QVariant &result = {});
  /// Pops the screens above this one.
  Q_INVOKABLE qulonglong popTo(const QString &screen);
  Q_INVOKABLE qulonglong popToRoot();
  /// Does what a tap on the back button does.
  Q_INVOKABLE qulonglong back();
  /// Presses a button of the bar or of the toolbar.
  Q_INVOKABLE qulonglong activate(const QString &button, const QString &element = {});
  /// Performs operations of the protocol, all in one revision or none. `basis`: "" for no guard, or
  /// "top", "stack", "rev", "visible", "epoch", the part of the shown state that must still hold.
  Q_INVOKABLE qulonglong perform(const QVariantList &operations, const QString &basis = {});
  /// Makes the nav with this root, and puts it on display; it is no error if it exists. It has no
  /// time limit.
  Q_INVOKABLE qulonglong create(const QVariant &root);

signals:
  void clientChanged();
  void navChanged();
  void waitChanged();
  void withinChanged();
  void syncedChanged();
  /// The model shows a new state. Displays should animate it if `animated`.
  void changed(const QString &cause, bool animated);
  /// An event of the nav, such as `didPop` or `buttonActivated`.
  void eventOccurred(const QString &name, const QVariantMap &details);
  void succeeded(qulonglong request, const QVariantMap &reply);
  /// A request was refused: the code, such as "desync", a sentence for logs, what to do, and the
  /// whole error.
  void failed(qulonglong request, const QString &code, const QString &message, const QString &advice,
              const QVariantMap &details);
  /// The watch is over, because the nav was closed, or there is none.
  void ended(const QString &code);

private:
  /// What the model shows beside its rows and the bar, all of one revision.
  struct Picture {
    /// The state as libnavd had it: guards are made of it.
    QByteArray text;
    QJsonObject state;
    QJsonArray screens;
    QVariantList presented;
  };
  /// An event that waits for the signals of earlier ones.
  struct Waiting {
    navd_kind kind;
    QByteArray state;
    QJsonObject change;
    QString code;
  };

  /// Runs what emits a signal; returns whether the model is still there, and shows the same nav.
  template <typename Signal> bool goesOn(Signal emitSignal) {
    const QPointer<NavigationModel> self(this);
    const int turn = m_turn;
    emitSignal();
    return self && m_turn == turn;
  }
  void unwatch();
  void leave();
  void clear();
  void handle(const Waiting &event);
  void show(const QByteArray &text, const QJsonObject &change);
  bool setScreens(const Picture &next, bool *isBarChanged);
  void emitEvents(const QJsonArray &events);
  bool setSynced(bool isSynced);
  void fail(qulonglong request, const navd_error *error);
  void failOpen();
  qulonglong submit(const QByteArray &operations, const char *basis, int within);
  qulonglong submit(const QByteArray &operations, const char *basis) {
    return submit(operations, basis, m_within);
  }

  QPointer<NavdClient> m_client;
  QString m_nav;
  bool m_waits = false;
  int m_within = 2000;
  NavigationBar m_bar;
  Picture m_picture;
  /// The rows, which become those of the picture step by step.
  QJsonArray m_screens;
  QList<Waiting> m_waiting;
  QList<qulonglong> m_requests;
  qulonglong m_creation = 0;
  /// How often the model got another nav or client.
  int m_turn = 0;
  bool m_isSignalling = false;
  /// Whether the rows are those of another nav or client than the model has now.
  bool m_isStale = false;
  bool m_isSynced = false;
  bool m_isComplete = false;
  bool m_isWatched = false;
};

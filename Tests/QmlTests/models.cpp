// models MODULES: programs around the model: event loops inside its signals, other navs and clients, forks.
#include <QAbstractItemModelTester>
#include <QCoreApplication>
#include <QDeadlineTimer>
#include <QElapsedTimer>
#include <QJsonDocument>
#include <QPersistentModelIndex>
#include <QPointer>
#include <QQmlComponent>
#include <QQmlEngine>
#include <QRandomGenerator>
#include <QTimer>
#include <QVariantMap>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <navd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../qml/rows.h"

static QQmlEngine *engine;

[[noreturn]] static void fail(int line, const QString &what) {
  fprintf(stderr, "models.cpp:%d: %s\n", line, qPrintable(what));
  _exit(1);
}
#define CHECK(condition) ((condition) ? void() : fail(__LINE__, #condition))
#define SAME(found, wanted) [&](const QString &one, const QString &other) { \
  if (one != other) fail(__LINE__, one + ", not " + other); }(found, wanted)

/// Serves the event loop until a condition holds; ends the process after a minute.
static void await(int line, const std::function<bool()> &condition) {
  QDeadlineTimer deadline(60000);
  while (!condition()) {
    if (deadline.hasExpired()) fail(line, "not within a minute");
    QCoreApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents, 20);
  }
}
#define AWAIT(condition) await(__LINE__, [&] { return bool(condition); })

/// An object of a type of QML, which may have members of its own.
static QObject *made(const QByteArray &type, const QVariantMap &properties, const QByteArray &members = {}) {
  QQmlComponent component(engine);
  component.setData("import QtQml\nimport Navd\n" + type + " { " + members + " }", QUrl());
  QObject *object = component.createWithInitialProperties(properties);
  if (!object) fail(__LINE__, component.errorString());
  return object;
}
/// What a handler in QML notes of an object's signals.
static QObject *heard(QObject *object, const QByteArray &handlers) {
  return made("Connections", {{"target", QVariant::fromValue(object)}}, handlers);
}
static QObject *client(const char *name) { return made("NavdClient", {{"name", name}}); }

/// Calls a function in a signal that is known by its name, as QSignalSpy does it.
struct Relay : QObject {
  std::function<void()> heard;
  using QObject::QObject;
  int qt_metacall(QMetaObject::Call call, int id, void **arguments) override {
    id = QObject::qt_metacall(call, id, arguments);
    if (id < 0 || call != QMetaObject::InvokeMetaMethod) return id;
    heard();
    return -1;
  }
};
static void relay(QObject *sender, const QByteArray &name, const std::function<void()> &heard) {
  const QMetaObject *type = sender->metaObject();
  for (int at = 0; at < type->methodCount(); at++) {
    if (type->method(at).methodType() != QMetaMethod::Signal || type->method(at).name() != name) continue;
    auto *relay = new Relay(sender);
    relay->heard = heard;
    QMetaObject::connect(sender, at, relay, QObject::staticMetaObject.methodCount(), Qt::DirectConnection);
    return;
  }
  fail(__LINE__, "no signal " + name);
}

/// A model, and what its signals show.
struct Model {
  QPointer<QAbstractItemModel> model;
  QObject *bar;

  Model(QObject *client, const QString &nav)
      : model(qobject_cast<QAbstractItemModel *>(
            made("NavigationModel", {{"client", QVariant::fromValue(client)}, {"nav", nav}}))),
        bar(model->property("bar").value<QObject *>()) {}
  ~Model() { delete model; }

  QString ids() const {
    QStringList list;
    for (int row = 0; row < model->rowCount(); row++) list << model->index(row, 0).data(Qt::UserRole + 1).toString();
    return list.join(' ');
  }
  qulonglong revision() const { return model->property("revision").toULongLong(); }
  bool isSynced() const { return model->property("synced").toBool(); }
  QString top() const { return model->property("top").toMap()["id"].toString(); }
  QString barTop() const { return bar->property("details").toMap()["top"].toString(); }
  qulonglong pop() const {
    qulonglong request = 0;
    QMetaObject::invokeMethod(model, "pop", Q_RETURN_ARG(qulonglong, request));
    return request;
  }
  qulonglong push(const char *id) const {
    qulonglong request = 0;
    QMetaObject::invokeMethod(model, "push", Q_RETURN_ARG(qulonglong, request),
                              Q_ARG(QVariant, QVariant(QVariantMap{{"id", id}})));
    return request;
  }
  /// Calls a function in each signal of the model, with its name.
  void listen(const std::function<void(const QByteArray &)> &heard) const {
    QObject::connect(model, &QAbstractItemModel::rowsInserted, [=] { heard("rowsInserted"); });
    QObject::connect(model, &QAbstractItemModel::rowsRemoved, [=] { heard("rowsRemoved"); });
    QObject::connect(model, &QAbstractItemModel::rowsMoved, [=] { heard("rowsMoved"); });
    QObject::connect(model, &QAbstractItemModel::dataChanged, [=] { heard("dataChanged"); });
    // The others are those of the plugin, which the program does not link with.
    for (const char *name : {"changed", "eventOccurred", "syncedChanged"}) relay(model, name, [=] { heard(name); });
    relay(bar, "changed", [=] { heard("barChanged"); });
  }
};

/// A client that blocks, as other programs change the navs.
struct Other {
  navd_client *handle = nullptr;
  Other() {
    navd_options options = {};
    options.size = sizeof options;
    if (navd_connect(&options, -1, &handle, nullptr) != NAVD_OK) fail(__LINE__, "no daemon");
  }
  ~Other() { navd_client_free(handle); }
  /// Performs operations; returns the revision.
  qulonglong perform(const QString &nav, const QByteArray &operations) {
    char *reply = nullptr;
    navd_error *error = nullptr;
    if (navd_perform(handle, nav.toUtf8(), operations, "{\"any\":true}", NAVD_STILL, -1, &reply, &error) != NAVD_OK)
      fail(__LINE__, operations + " " + navd_error_message(error));
    const QByteArray text = reply;
    navd_string_free(reply);
    return QJsonDocument::fromJson(text)["rev"].toVariant().toULongLong();
  }
  qulonglong push(const QString &nav, const char *id) {
    return perform(nav, QByteArray("[{\"push\":{\"screen\":{\"id\":\"") + id + "\",\"title\":\"" + id + "\"}}}]");
  }
  QString create(const QString &nav) {
    perform(nav, "[{\"nav.create\":{\"root\":{\"id\":\"home\",\"title\":\"Home\"}}},{\"attach\":{}}]");
    return nav;
  }
};

/// Random lists: the steps lead from one to the other, and what both have is neither removed nor inserted.
static void steps() {
  QRandomGenerator random(7);
  const auto list = [&] {
    QStringList all;
    for (int at = 0; at < 7; at++) all << QString(QChar('a' + at));
    std::shuffle(all.begin(), all.end(), random);
    return QStringList(all.mid(0, random.bounded(8)));
  };
  for (int round = 0; round < 20000; round++) {
    const QStringList before = list(), after = list();
    QStringList rows = before;
    int moves = 0;
    for (const RowStep &step : rowSteps(before, after)) {
      switch (step.kind) {
      case RowStep::Remove:
        for (int at = step.last; at >= step.first; at--) CHECK(!after.contains(rows.takeAt(at)));
        break;
      case RowStep::Move:
        CHECK(step.to < step.first || step.to > step.first + 1);
        rows.move(step.first, step.to > step.first ? step.to - 1 : step.to);
        moves++;
        break;
      case RowStep::Insert:
        for (int at = step.first; at <= step.last; at++) {
          CHECK(!before.contains(after[at]));
          rows.insert(at, after[at]);
        }
        break;
      }
    }
    SAME(rows.join(' '), after.join(' '));
    CHECK(moves <= std::max(0, int(std::min(before.size(), after.size())) - 1));
  }
  CHECK(rowSteps({"a", "b", "c", "d"}, {"b", "c", "d", "a"}).size() == 1);
  CHECK(rowSteps({"a", "b", "c", "d"}, {"d", "a", "b", "c"}).size() == 1);
}

/// Each signal shows one picture: the rows, the bar, the top and the revision belong together.
static void pictures() {
  Other other;
  QObject *shell = client("shell");
  const QString nav = other.create("pictures");
  Model shown(shell, nav);
  QAbstractItemModelTester tester(shown.model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  AWAIT(shown.isSynced());
  QByteArrayList said;
  int half = 0;
  shown.listen([&](const QByteArray &name) {
    said << name;
    CHECK(shown.model->rowCount() > 0);
    const QString rows = shown.ids();
    half += rows.split(' ').last() != shown.top() || shown.barTop() != shown.top();
  });
  const auto perform = [&](const QByteArray &operations, const char *rows) {
    said.clear();
    half = 0;
    QList<QPair<QString, QPersistentModelIndex>> kept;
    for (int row = 0; row < shown.model->rowCount(); row++) {
      const QModelIndex index = shown.model->index(row, 0);
      kept.append({index.data(Qt::UserRole + 1).toString(), index});
    }
    const qulonglong revision = other.perform(nav, operations);
    AWAIT(shown.revision() == revision && said.contains("changed"));
    SAME(shown.ids(), rows);
    for (const auto &[id, index] : kept)
      if (QString(rows).split(' ').contains(id)) SAME(index.data(Qt::UserRole + 1).toString(), id);
    return said.join(' ');
  };
  const auto one = [&](const QByteArray &operations, const char *rows, const char *signal) {
    const QByteArray heard = perform(operations, rows);
    for (const char *each : {"rowsInserted", "rowsRemoved", "rowsMoved", "dataChanged"})
      CHECK(heard.count(each) == (each == QByteArray(signal)));
    CHECK(half == 0);
  };
  one(R"([{"push":{"screen":{"id":"wifi","title":"Wi-Fi"}}}])", "home wifi", "rowsInserted");
  one(R"([{"replace":{"screen":"wifi","with":{"id":"lan","title":"LAN"}}}])", "home lan", "dataChanged");
  one(R"([{"push":{"screen":{"id":"dns","title":"DNS"}}},{"push":{"screen":{"id":"ip","title":"IP"}}}])", "home lan dns ip", "rowsInserted");
  one(R"([{"setStack":{"screens":["ip","home","lan","dns"]}}])", "ip home lan dns", "rowsMoved");
  one(R"([{"item.set":{"screen":"dns","title":"Names"}}])", "ip home lan dns", "dataChanged");
  one(R"([{"setStack":{"screens":["ip","dns"]}}])", "ip dns", "rowsRemoved");
  one(R"([{"setStack":{"screens":["dns","ip"]}}])", "dns ip", "rowsMoved");
  one(R"([{"present":{"screen":{"id":"pin","title":"PIN"}}}])", "dns ip", "");
  one(R"([{"dismiss":{}}])", "dns ip", "");
  // Several row signals: nothing that both have goes, and the list is never empty.
  perform(R"([{"setStack":{"screens":[{"id":"a"},"ip",{"id":"b"},"dns",{"id":"c"}]}}])", "a ip b dns c");
  perform(R"([{"setStack":{"screens":["c",{"id":"x"},"a",{"id":"y"}]}}])", "c x a y");
  const QByteArray heard = perform(R"([{"setStack":{"screens":["y","a","x","c"]}}])", "y a x c");
  CHECK(heard.count("rowsMoved") == 3 && !heard.contains("rowsRemoved"));
  delete shell;
  CHECK(!shown.isSynced());
}

/// An event loop inside a row signal: the next states wait, and then the model shows what the daemon has.
static void loops() {
  Other other;
  QObject *shell = client("shell");
  for (const char *signal : {"rowsRemoved", "rowsInserted", "changed", "barChanged"}) {
    const QString nav = other.create(QString("loops-") + QByteArray(signal).toLower());
    Model shown(shell, nav), beside(shell, nav);
    QAbstractItemModelTester tester(shown.model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    AWAIT(shown.isSynced() && beside.isSynced());
    for (const char *id : {"a", "b", "c"}) other.push(nav, id);
    AWAIT(shown.ids() == "home a b c" && beside.ids() == "home a b c");
    bool isDone = false;
    QString during;
    qulonglong latest = 0, popped = 0;
    QObject::connect(shown.model, &QAbstractItemModel::rowsAboutToBeInserted, [&] { CHECK(latest == 0 || isDone); });
    shown.listen([&](const QByteArray &name) {
      if (isDone || name != signal || latest) return;
      const QString before = shown.ids();
      other.push(nav, "z");
      latest = other.perform(nav, R"([{"remove":{"screens":["b"]}}])");
      // The other model of the client shows them; this one knows that it does not.
      AWAIT(beside.revision() == latest);
      CHECK(!shown.isSynced());
      SAME(shown.ids(), before);
      popped = shown.pop();
      isDone = true;
    });
    other.perform(nav, R"([{"setStack":{"screens":["home","b",{"id":"x"},{"id":"y"},{"id":"w"}]}}])");
    AWAIT(isDone && shown.isSynced() && shown.revision() == latest);
    // The pop was guarded by the old picture, so it took nothing away.
    CHECK(popped);
    latest = other.push(nav, "end");
    AWAIT(shown.revision() == latest && beside.revision() == latest);
    SAME(shown.ids() + ", " + beside.ids(), "home x y w z end, home x y w z end");
  }
  delete shell;
}

/// The model or its client goes while a signal runs, in a loop of its handler or at once.
static void ends() {
  Other other;
  int count = 0;
  for (const char *signal : {"rowsInserted", "rowsRemoved", "rowsMoved", "dataChanged", "changed", "eventOccurred", "syncedChanged", "barChanged"}) {
    for (const char *what : {"model", "client", "beside", "model in a loop", "client in a loop"}) {
      const QString nav = other.create("ends-" + QString::number(++count));
      QPointer<QObject> shell = client("shell");
      auto *shown = new Model(shell, nav);
      Model beside(shell, nav);
      AWAIT(shown->isSynced() && beside.isSynced());
      other.push(nav, "a");
      other.push(nav, "b");
      AWAIT(shown->ids() == "home a b" && beside.ids() == "home a b");
      QPointer<QObject> victim = QByteArray(what).startsWith("client") ? shell.data()
          : QByteArray(what) == "beside" ? beside.model.data() : shown->model.data();
      bool isDone = false;
      shown->listen([&](const QByteArray &name) {
        if (isDone || name != signal) return;
        isDone = true;
        if (!QByteArray(what).endsWith("loop")) {
          delete victim.data();
          return;
        }
        QTimer::singleShot(0, engine, [&] { delete victim.data(); });
        AWAIT(!victim);
      });
      other.perform(nav, R"([{"setStack":{"screens":["b","home",{"id":"x"}]}},{"item.set":{"screen":"b","title":"B"}}])");
      other.perform(nav, R"([{"remove":{"screens":["home"]}}])");
      other.push(nav, "y");
      if (QByteArray(signal) == "syncedChanged") other.perform(nav, R"([{"nav.close":{}}])");
      AWAIT(isDone && !victim);
      if (shown->model && !shell) CHECK(!shown->isSynced());
      delete shown;
      delete shell;
    }
  }
}

/// Another nav in a signal: nothing of the first shows or happens any more.
static void navs() {
  Other other;
  QObject *shell = client("shell");
  int count = 0;
  for (const char *signal : {"rowsInserted", "rowsRemoved", "dataChanged", "changed", "eventOccurred", "barChanged"}) {
    const QString first = other.create("first-" + QString::number(++count)), second = other.create("second-" + QString::number(count));
    other.push(second, "other");
    Model shown(shell, first);
    QAbstractItemModelTester tester(shown.model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    AWAIT(shown.isSynced());
    other.push(first, "a");
    AWAIT(shown.ids() == "home a");
    bool isDone = false, isLeft = false;
    shown.listen([&](const QByteArray &name) {
      if (isLeft) CHECK(name != "eventOccurred");
      if (isDone || name != signal) return;
      isDone = isLeft = true;
      shown.model->setProperty("nav", second);
      CHECK(!shown.isSynced() && shown.revision() == 0 && shown.top().isEmpty());
      // A guard of the first nav must not count for the second.
      CHECK(shown.pop() == 0);
    });
    // Two row signals each, and then more of the first nav.
    other.perform(first, signal == QByteArray("rowsRemoved") ? R"([{"setStack":{"screens":["a"]}},{"push":{"screen":{"id":"x"}}}])"
        : R"([{"item.set":{"screen":"home","title":"H"}},{"push":{"screen":{"id":"x"}}}])");
    other.push(first, "y");
    AWAIT(isDone && shown.isSynced());
    SAME(shown.ids() + " " + shown.top() + " " + shown.barTop(), "home other other other");
  }
  delete shell;
}

/// What is open when the model gets another client, or loses its client, is answered.
static void clients() {
  Other other;
  for (const bool isDeleted : {false, true}) {
    QObject *one = client("one"), *two = client("two");
    Model shown(one, other.create(isDeleted ? "clients-deleted" : "clients"));
    QObject *failures = heard(shown.model, R"(property var seen: []
      function onFailed(request, code, message, advice, details) { seen = seen.concat([request + " " + code + " " + details.effect]) })");
    AWAIT(shown.isSynced() && two->property("connected").toBool());
    const qulonglong a = shown.push("a"), b = shown.push("b");
    CHECK(a && b);
    if (isDeleted) delete one;
    else shown.model->setProperty("client", QVariant::fromValue(two));
    SAME(failures->property("seen").toStringList().join(", "), QString("%1 closed unknown, %2 closed unknown").arg(a).arg(b));
    CHECK(!shown.isSynced());
    if (isDeleted) shown.model->setProperty("client", QVariant::fromValue(two));
    AWAIT(shown.isSynced());
    delete failures;
    if (!isDeleted) delete one;
    delete two;
  }
}

/// A backlog: timers run between a few events, waiting states join, and no event of a nav is lost.
static void backlog() {
  Other other;
  QObject *shell = client("shell");
  const QString nav = other.create("backlog");
  Model shown(shell, nav);
  AWAIT(shown.isSynced());
  int states = 0, answers = 0, most = 0;
  relay(shown.model, "changed", [&] { states++; });
  QObject *events = heard(shown.model, R"(property int pushes: 0
    function onEventOccurred(name) { if (name === "didPush") pushes++ })");
  for (int at = 0; at < 60; at++) {
    other.perform(nav, R"([{"push":{"screen":{"id":"a"}}}])");
    other.perform(nav, R"([{"pop":{}}])");
  }
  AWAIT(shown.revision() == 121);
  CHECK(states < 60);
  CHECK(events->property("pushes") == 60);
  QObject *successes = heard(shown.model, R"(property int count: 0
    function onSucceeded() { count++ })");
  for (int at = 0; at < 50; at++) CHECK(shown.push(qPrintable(QString("s%1").arg(at))));
  qulonglong revision = 0;
  for (QDeadlineTimer deadline(60000); revision < 171 && !deadline.hasExpired();) {
    // Only the first look of the model's client sends them.
    if (revision == 0) QCoreApplication::processEvents(QEventLoop::AllEvents, 0);
    char *state = nullptr;
    if (navd_get(other.handle, nav.toUtf8(), "state", -1, &state, nullptr) != NAVD_OK) continue;
    revision = QJsonDocument::fromJson(QByteArray(state))["rev"].toVariant().toULongLong();
    navd_string_free(state);
  }
  answers = successes->property("count").toInt();
  QTimer ticks;
  QObject::connect(&ticks, &QTimer::timeout, [&] {
    const int now = successes->property("count").toInt();
    most = std::max(most, now - answers);
    answers = now;
  });
  ticks.start(0);
  AWAIT(successes->property("count").toInt() == 50 && answers == 50);
  CHECK(most > 0 && most <= 16);
  delete successes;
  delete events;
  delete shell;
}

/// A program that forks while it shows a nav; the child goes on with a session of its own.
static void forks() {
  QString code;
  Other().create("forks");
  QObject *shell = client("forks");
  Model shown(shell, "forks");
  QObject *failures = heard(shown.model, R"(property string code
    function onFailed(request, word) { code = word })");
  const auto shows = [&](int count) { AWAIT(shown.model->rowCount() == count && shown.isSynced()); };
  shows(1);
  const pid_t child = fork();
  if (child == 0) {
    CHECK(shown.push("none") == 0 && failures->property("code") == "forked");
    shows(1);
    CHECK(shown.push("child") != 0);
    shows(2);
    _exit(0);
  }
  int status = 1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  shows(2);
  CHECK(shown.push("parent") != 0);
  shows(3);
}

int main(int count, char **arguments) {
  QCoreApplication application(count, arguments);
  QQmlEngine made;
  engine = &made;
  engine->addImportPath(arguments[1]);
  const std::pair<const char *, void (*)()> cases[] = {{"steps", steps}, {"pictures", pictures}, {"loops", loops},
      {"ends", ends}, {"navs", navs}, {"clients", clients}, {"backlog", backlog}, {"forks", forks}};
  for (const auto &[name, run] : cases) {
    QElapsedTimer timer;
    timer.start();
    run();
    printf("%s: %lld ms\n", name, timer.elapsed());
    fflush(stdout);
  }
  return 0;
}

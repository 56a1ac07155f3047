// forks MODULES: a program that forks while it shows a nav; the child goes on with a session of its own.
#include <QCoreApplication>
#include <QDeadlineTimer>
#include <QQmlComponent>
#include <QQmlEngine>
#include <QVariantMap>

#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>

static const char *const page = R"(
import QtQml
import Navd
QtObject {
  property NavdClient client: NavdClient { name: "forks" }
  property NavigationModel model: NavigationModel {
    client: page.client
    nav: "kiosk"
    onFailed: (request, code) => page.code = code
  }
  property string code
  property QtObject page: this
}
)";

/// Serves the event loop until a nav has so many screens and is in sync; ends the process after a minute.
static void await(QObject *model, int count) {
  QDeadlineTimer deadline(60000);
  while (model->property("count").toInt() != count || !model->property("synced").toBool()) {
    if (deadline.hasExpired()) _exit(3);
    QCoreApplication::processEvents(QEventLoop::AllEvents, 50);
  }
}

static qulonglong push(QObject *model, const char *id) {
  qulonglong request = 0;
  QMetaObject::invokeMethod(model, "push", Q_RETURN_ARG(qulonglong, request),
                            Q_ARG(QVariant, QVariant(QVariantMap{{"id", id}})));
  return request;
}

int main(int count, char **arguments) {
  QCoreApplication application(count, arguments);
  QQmlEngine engine;
  engine.addImportPath(arguments[1]);
  QQmlComponent component(&engine);
  component.setData(page, QUrl());
  QObject *root = component.create();
  if (!root) return fprintf(stderr, "%s\n", qPrintable(component.errorString())), 2;
  QObject *model = root->property("model").value<QObject *>();
  await(model, 1);
  const pid_t child = fork();
  if (child == 0) {
    if (push(model, "none") != 0 || root->property("code") != "forked") _exit(4);
    await(model, 1);
    if (push(model, "child") == 0) _exit(5);
    await(model, 2);
    _exit(0);
  }
  int status = 1;
  waitpid(child, &status, 0);
  if (status != 0) return 10 + WEXITSTATUS(status);
  await(model, 2);
  if (push(model, "parent") == 0) return 6;
  await(model, 3);
  return 0;
}

// Texts and JSON between libnavd and Qt.
#pragma once

#include <QByteArray>
#include <QJSValue>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QString>
#include <QVariant>

#include <navd.h>

/// The contents of a text that the caller owns, which is freed; empty for NULL.
inline QByteArray taken(char *text) {
  const QByteArray copy(text);
  navd_string_free(text);
  return copy;
}

/// The object of a JSON text; empty if it is none.
inline QJsonObject object(const char *json) {
  return QJsonDocument::fromJson(QByteArray(json)).object();
}

/// A value of QML as JSON. Values that JSON lacks, such as functions, become null.
inline QByteArray json(const QVariant &value) {
  // QML passes its objects as they are.
  const bool isObject = value.userType() == qMetaTypeId<QJSValue>();
  const QVariant plain = isObject ? value.value<QJSValue>().toVariant() : value;
  // A document has an object or an array at its top, so the value goes through an array of one.
  const QJsonDocument document(QJsonArray{QJsonValue::fromVariant(plain)});
  const QByteArray text = document.toJson(QJsonDocument::Compact);
  return text.mid(1, text.size() - 2);
}

#pragma once

#include <QObject>
#include <QVariant>
#include <QtQml/qqmlregistration.h>

#include "text.h"

/// The content of a navigation bar, as navd has computed it; `bar` of a NavigationModel.
class NavigationBar : public QObject {
  Q_OBJECT
  QML_ELEMENT
  QML_UNCREATABLE("a NavigationModel has its bar")
  /// The text in the middle; empty for a view or for nothing.
  Q_PROPERTY(QString title READ title NOTIFY changed)
  /// What a screen reader says for the title.
  Q_PROPERTY(QString titleLabel READ titleLabel NOTIFY changed)
  /// Whether the title is large, below the bar.
  Q_PROPERTY(bool isTitleLarge READ isTitleLarge NOTIFY changed)
  /// The description that the screen gave for a view in the middle; undefined for a title.
  Q_PROPERTY(QVariant titleView READ titleView NOTIFY changed)
  /// Whether the back button shows, and its text; empty for the indicator alone.
  Q_PROPERTY(bool hasBack READ hasBack NOTIFY changed)
  Q_PROPERTY(QString backTitle READ backTitle NOTIFY changed)
  /// What a screen reader says for the text of the back button; empty for the word of the program.
  Q_PROPERTY(QString backLabel READ backLabel NOTIFY changed)
  /// All members of the back button, as `accessibilityHint`; empty without one.
  Q_PROPERTY(QVariantMap back READ back NOTIFY changed)
  /// The menu of the back button: `screen` and `text` of the screens below, nearest first, with
  /// `accessibilityLabel` and `language` where a screen has them.
  Q_PROPERTY(QVariantList backMenu READ backMenu NOTIFY changed)
  /// The buttons from left to right, without the back button: `button` (the id), `title`, `image`,
  /// `systemItem`, `action`, `style`, `isEnabled`, `isSelected`, `accessibilityLabel`,
  /// `accessibilityHint`, `accessibilityIdentifier`, each only where it is not the default.
  Q_PROPERTY(QVariantList leftButtons READ leftButtons NOTIFY changed)
  Q_PROPERTY(QVariantList rightButtons READ rightButtons NOTIFY changed)
  /// The height in points that the bar takes from the content; 0 for a hidden bar.
  Q_PROPERTY(qreal height READ height NOTIFY changed)
  Q_PROPERTY(bool hidden READ isHidden NOTIFY changed)
  /// Whether a swipe may begin to pop.
  Q_PROPERTY(bool swipeBack READ swipeBack NOTIFY changed)
  /// The buttons of the toolbar in display order; empty if it is hidden.
  Q_PROPERTY(QVariantList toolbarItems READ toolbarItems NOTIFY changed)
  /// All members, see protocol.md, section 10.3.
  Q_PROPERTY(QVariantMap details READ details NOTIFY changed)

public:
  using QObject::QObject;

  QString title() const { return m_value["middle"]["title"].toString(); }
  QString titleLabel() const { return label(m_value["middle"], title()); }
  bool isTitleLarge() const { return m_value["middle"]["placement"].toString() == "large"; }
  QVariant titleView() const { return m_value["middle"]["customView"].toVariant(); }
  bool hasBack() const { return m_back.isObject(); }
  QString backTitle() const { return m_back["text"].toString(); }
  QString backLabel() const { return label(m_back, backTitle()); }
  QVariantMap back() const { return m_back.toObject().toVariantMap(); }
  QVariantList backMenu() const { return m_back["menu"].toVariant().toList(); }
  QVariantList leftButtons() const { return m_left; }
  QVariantList rightButtons() const { return m_right; }
  qreal height() const { return m_value["layoutHeight"].toDouble(); }
  bool isHidden() const { return height() == 0; }
  bool swipeBack() const { return m_value["swipeBack"].toBool(); }
  QVariantList toolbarItems() const;
  QVariantMap details() const { return m_value.toObject().toVariantMap(); }

  /// Takes another `resolved`; returns whether it differs, so that `changed` must follow.
  bool set(const QJsonValue &resolved);

signals:
  void changed();

private:
  static QString label(const QJsonValue &slot, const QString &text) {
    return slot["accessibilityLabel"].toString(text);
  }

  QJsonValue m_value;
  QJsonValue m_back;
  QVariantList m_left;
  QVariantList m_right;
};

#include "navigationbar.h"

QVariantList NavigationBar::toolbarItems() const {
  const QJsonValue toolbar = m_value["toolbar"];
  return toolbar["visible"].toBool() ? toolbar["items"].toVariant().toList() : QVariantList();
}

bool NavigationBar::set(const QJsonValue &resolved) {
  if (m_value == resolved) return false;
  m_value = resolved;
  m_back = QJsonValue(QJsonValue::Undefined);
  m_left.clear();
  m_right.clear();
  for (const QJsonValue &slot : resolved["left"].toArray()) {
    if (slot["back"].isObject())
      m_back = slot["back"];
    else
      m_left.append(slot.toVariant());
  }
  // They come right-most first.
  for (const QJsonValue &slot : resolved["right"].toArray()) m_right.prepend(slot.toVariant());
  return true;
}

// The row signals by which one list of screens becomes another.
#pragma once

#include <QList>
#include <QSet>
#include <QStringList>

#include <algorithm>

/// The rows `first` to `last` are removed or inserted, or row `first` moves in front of the row `to`.
struct RowStep {
  enum Kind { Remove, Move, Insert } kind;
  int first, last, to;
};

/// The rows of the longest list that both have in the same order.
inline QSet<QString> rowsInOrder(const QStringList &rows, const QStringList &next) {
  QList<int> length(rows.size(), 1), before(rows.size(), -1);
  int best = -1;
  for (int at = 0; at < rows.size(); at++) {
    for (int other = 0; other < at; other++) {
      if (next.indexOf(rows[other]) > next.indexOf(rows[at]) || length[other] < length[at]) continue;
      length[at] = length[other] + 1;
      before[at] = other;
    }
    if (best < 0 || length[at] > length[best]) best = at;
  }
  QSet<QString> found;
  for (; best >= 0; best = before[best]) found.insert(rows[best]);
  return found;
}

/// Few steps from one list to another: rows that both have are moved, never removed.
inline QList<RowStep> rowSteps(QStringList rows, const QStringList &next) {
  QList<RowStep> steps;
  for (int last = rows.size() - 1; last >= 0; last--) {
    if (next.contains(rows[last])) continue;
    int first = last;
    while (first > 0 && !next.contains(rows[first - 1])) first--;
    steps.append({RowStep::Remove, first, last, 0});
    rows.remove(first, last - first + 1);
    last = first;
  }
  QStringList kept = next;
  kept.removeIf([&](const QString &id) { return !rows.contains(id); });
  const QSet<QString> still = rowsInOrder(rows, kept);
  for (int at = 0; at < kept.size(); at++) {
    if (still.contains(kept[at])) continue;
    const int from = rows.indexOf(kept[at]);
    const int to = at == 0 ? 0 : int(rows.indexOf(kept[at - 1])) + 1;
    if (to == from) continue;
    steps.append({RowStep::Move, from, from, to});
    rows.move(from, to > from ? to - 1 : to);
  }
  for (int at = 0; at < next.size(); at++) {
    if (at < rows.size() && rows[at] == next[at]) continue;
    int last = at;
    while (last + 1 < next.size() && !kept.contains(next[last + 1])) last++;
    steps.append({RowStep::Insert, at, last, 0});
    for (int row = at; row <= last; row++) rows.insert(row, next[row]);
    at = last;
  }
  return steps;
}

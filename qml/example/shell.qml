// A small shell: the bar, the top screen and the presented ones of the nav "kiosk". Two of them show the same stack.
import QtQuick
import Navd

FocusScope {
    id: shell
    width: 480; height: 320
    focus: true
    property alias nav: model

    // A title can run from right to left; what stands beside it must not turn with it.
    function isolated(text) { return "\u2068" + text + "\u2069" }

    // The word of a system item, such as "Fast Forward".
    function word(item) { return item && item[0].toUpperCase() + item.slice(1).replace(/[A-Z]/g, " $&") }

    function back() {
        model.perform([{ "ui.back": {} }], "visible")
    }

    Keys.onPressed: event => {
        if (![Qt.Key_Escape, Qt.Key_Back].includes(event.key) && !event.matches(StandardKey.Back)) return
        event.accepted = true
        back()
    }

    NavdClient { id: navd; name: "qml-shell" }

    NavigationModel {
        id: model
        client: navd
        nav: "kiosk"
        Component.onCompleted: create({ id: "home", title: "Home" })
        onFailed: (request, code, message) => notice.text = message
        onChanged: notice.text = ""
    }

    component Button: Text {
        id: button
        property string name: text
        property string hint
        property bool isSelected: false
        signal tapped()
        color: enabled ? "#0a60ff" : "#767676"
        font.underline: isSelected
        elide: Text.ElideRight
        activeFocusOnTab: true
        Accessible.role: Accessible.Button
        Accessible.name: name
        // Qt 6.4 does not hand on that an item is not enabled.
        Accessible.description: [hint, enabled ? "" : "unavailable"].filter(Boolean).join(", ")
        Accessible.checkable: isSelected
        Accessible.checked: isSelected
        Accessible.focusable: true
        Accessible.onPressAction: if (enabled) tapped()
        Keys.onReturnPressed: tapped()
        Keys.onEnterPressed: tapped()
        Keys.onSpacePressed: tapped()
        TapHandler { onTapped: button.tapped() }
        Rectangle {
            anchors { fill: parent; margins: -4 }
            color: "transparent"
            border { color: "#0a60ff"; width: 2 }
            visible: button.activeFocus
        }
    }

    component BarButtons: Row {
        id: buttons
        property alias model: repeater.model
        anchors.verticalCenter: parent.verticalCenter
        spacing: 12
        Repeater {
            id: repeater
            Button {
                required property var modelData
                // This shell has no pictures: a title or a word stands for the image.
                readonly property string said: modelData.title ?? shell.word(modelData.systemItem) ?? modelData.image ?? modelData.button
                objectName: modelData.accessibilityIdentifier ?? ""
                visible: !["flexibleSpace", "fixedSpace"].includes(modelData.systemItem)
                enabled: modelData.isEnabled ?? true
                isSelected: modelData.isSelected ?? false
                width: Math.min(implicitWidth, bar.width / 4)
                text: said
                name: modelData.accessibilityLabel ?? said
                hint: modelData.accessibilityHint ?? ""
                onTapped: shell.nav.activate(modelData.button)
            }
        }
    }

    // A screen. The one that shows has the focus, so that a screen reader speaks its title.
    component Page: Rectangle {
        id: page
        property string name
        property string label: name
        property bool isVisible: true
        width: shell.width
        Accessible.role: Accessible.Pane
        Accessible.name: label
        Accessible.focusable: true
        Accessible.ignored: !isVisible
        onIsVisibleChanged: if (isVisible) forceActiveFocus()
        Component.onCompleted: if (isVisible) forceActiveFocus()
        Text {
            anchors.centerIn: parent
            width: parent.width - 16
            horizontalAlignment: Text.AlignHCenter
            elide: Text.ElideRight
            text: page.name
            Accessible.ignored: true
        }
    }

    Rectangle {
        id: bar
        width: parent.width; height: model.bar.hidden ? 0 : 44
        visible: height > 0
        enabled: model.presented.length === 0
        color: "#f4f4f4"
        Row {
            id: left
            anchors { left: parent.left; leftMargin: 8; verticalCenter: parent.verticalCenter }
            spacing: 12
            Button {
                objectName: "back"
                visible: model.bar.hasBack
                width: Math.min(implicitWidth, bar.width / 4)
                name: model.bar.backLabel ? "Back to " + model.bar.backLabel : "Back"
                hint: model.bar.back.accessibilityHint ?? ""
                text: "‹ " + shell.isolated(model.bar.backTitle)
                onTapped: model.back()
            }
            BarButtons { model: shell.nav.bar.leftButtons }
        }
        Text {
            objectName: "title"
            anchors.centerIn: parent
            width: parent.width - 2 * Math.max(left.width, right.width) - 32
            horizontalAlignment: Text.AlignHCenter
            elide: Text.ElideRight
            text: model.bar.title
            Accessible.role: Accessible.Heading
            Accessible.name: model.bar.titleLabel
        }
        BarButtons { id: right; anchors { right: parent.right; rightMargin: 8 } model: shell.nav.bar.rightButtons }
    }

    // Each screen keeps its item while it is on the stack; only the top shows.
    Repeater {
        id: screens
        model: model
        Page {
            required property int index
            required property string screenId
            required property string title
            required property string accessibilityLabel
            readonly property bool isTop: index === screens.count - 1
            name: title || screenId
            label: accessibilityLabel || screenId
            y: bar.height; height: shell.height - bar.height
            visible: isTop
            isVisible: isTop && shell.nav.presented.length === 0
        }
    }

    // The presented screens, each above the one before.
    Repeater {
        model: shell.nav.presented
        Page {
            required property int index
            required property var modelData
            objectName: "sheet"
            name: modelData.title ?? modelData.id
            label: modelData.accessibilityLabel ?? modelData.item?.accessibilityLabel ?? name
            y: 24 * (index + 1); height: shell.height - y
            color: "#f9f9f9"
            isVisible: index === shell.nav.presented.length - 1
            Accessible.role: Accessible.Dialog
            Button { x: 8; y: 8; text: "Close"; enabled: parent.isVisible; onTapped: shell.back() }
        }
    }

    Text {
        id: notice
        anchors { bottom: parent.bottom; margins: 8; horizontalCenter: parent.horizontalCenter }
        color: "#b00020"
        Accessible.role: Accessible.AlertMessage
        Accessible.name: text
    }
    Text { anchors.bottom: parent.bottom; text: "not connected"; visible: !navd.connected }
}

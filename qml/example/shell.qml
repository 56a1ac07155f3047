// A small shell: the bar and the top screen of the nav "kiosk". Two of them show the same stack.
import QtQuick
import Navd

Rectangle {
    id: shell
    width: 480; height: 320
    property alias nav: model

    NavdClient { id: navd; name: "qml-shell" }

    NavigationModel {
        id: model
        client: navd
        nav: "kiosk"
        Component.onCompleted: create({ id: "home", title: "Home" })
        onFailed: (request, code, message) => notice.text = message
        onChanged: notice.text = ""
    }

    component BarText: Text {
        signal tapped()
        anchors.verticalCenter: parent.verticalCenter
        font.pixelSize: 16
        TapHandler { onTapped: parent.tapped() }
    }

    Rectangle {
        id: bar
        width: parent.width; height: model.bar.hidden ? 0 : 44
        visible: height > 0
        color: "#f4f4f4"
        BarText {
            x: 8; objectName: "back"
            visible: model.bar.hasBack
            text: "‹ " + model.bar.backTitle
            color: "#0a60ff"
            onTapped: model.back()
        }
        BarText { objectName: "title"; anchors.horizontalCenter: parent.horizontalCenter; text: model.bar.title }
        Row {
            anchors { right: parent.right; rightMargin: 8; verticalCenter: parent.verticalCenter }
            spacing: 12
            Repeater {
                model: shell.nav.bar.rightButtons
                BarText {
                    required property var modelData
                    text: modelData.title ?? modelData.button
                    onTapped: shell.nav.activate(modelData.button)
                }
            }
        }
    }

    // Each screen keeps its item while it is on the stack; only the top shows.
    Repeater {
        id: screens
        model: model
        Rectangle {
            required property int index
            required property string screenId
            required property string title
            y: bar.height; width: shell.width; height: shell.height - bar.height
            visible: index === screens.count - 1
            Text { anchors.centerIn: parent; text: parent.title || parent.screenId }
        }
    }

    Text { id: notice; anchors { bottom: parent.bottom; margins: 8; horizontalCenter: parent.horizontalCenter } color: "#b00020" }
    Text { anchors.bottom: parent.bottom; text: "not connected"; visible: !navd.connected }
}

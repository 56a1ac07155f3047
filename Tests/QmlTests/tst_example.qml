// The shell of the example: it draws the bar and the top screen, and a tap on the back button pops.
import QtQuick
import QtTest

TestCase {
    id: tests
    name: "Example"
    when: windowShown
    width: 480; height: 320
    visible: true

    function test_the_shell_draws_and_goes_back() {
        const component = Qt.createComponent("../../qml/example/shell.qml");
        compare(component.errorString(), "");
        const shell = createTemporaryObject(component, tests);
        tryCompare(shell.nav, "count", 1, 60000);
        const back = findChild(shell, "back"), title = findChild(shell, "title");
        compare([title.text, back.visible], ["Home", false]);
        shell.nav.push({ id: "wifi", title: "Wi-Fi" });
        tryCompare(title, "text", "Wi-Fi", 60000);
        compare(back.text, "‹ Home");
        mouseClick(back);
        tryCompare(title, "text", "Home", 60000);
        compare([shell.nav.count, back.visible], [1, false]);
    }
}

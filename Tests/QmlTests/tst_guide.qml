// The program of docs/qml.md, which test_qml.py writes beside this file's copy.
import QtQuick
import QtTest

TestCase {
    id: tests
    name: "Guide"
    when: windowShown
    width: 480; height: 320
    visible: true

    function test_the_program_runs() {
        const component = Qt.createComponent("guide.qml");
        compare(component.errorString(), "");
        const program = createTemporaryObject(component, tests);
        const title = findChild(program, "title"), back = findChild(program, "back");
        tryCompare(title, "text", "Home", 60000);
        mouseClick(findChild(program, "push"));
        tryCompare(title, "text", "Wi-Fi", 60000);
        compare(back.text, "< Home");
        mouseClick(back);
        tryCompare(title, "text", "Home", 60000);
    }
}

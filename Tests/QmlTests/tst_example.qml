// The shell of the example: what it draws, what keys and taps do, and what it tells screen readers.
import QtQuick
import QtTest

TestCase {
    id: tests
    name: "Example"
    when: windowShown
    width: 480; height: 320
    visible: true

    property var shell

    function find(name) { return findChild(shell, name) }
    function push(id, title) {
        shell.nav.push({ id: id, title: title });
        tryCompare(find("title"), "text", title, 60000);
    }
    function isBack(title) { tryCompare(find("title"), "text", title, 60000) }

    function test_the_shell_draws_and_goes_back() {
        const component = Qt.createComponent("../../qml/example/shell.qml");
        compare(component.errorString(), "");
        shell = createTemporaryObject(component, tests);
        tryCompare(shell.nav, "count", 1, 60000);
        const back = find("back"), title = find("title");
        compare([title.text, back.visible], ["Home", false]);
        push("wifi", "Wi-Fi");
        compare([back.text, back.Accessible.name, back.Accessible.role], ["‹ \u2068Home\u2069", "Back to Home", Accessible.Button]);
        mouseClick(back);
        isBack("Home");
        compare([shell.nav.count, back.visible], [1, false]);
        // Keys: the page that shows has the focus, and a button gets it by Tab.
        for (const key of [["Escape", Qt.NoModifier], ["Left", Qt.AltModifier], ["Back", Qt.NoModifier]]) {
            push("wifi", "Wi-Fi");
            keyClick(Qt["Key_" + key[0]], key[1]);
            isBack("Home");
        }
        push("wifi", "Wi-Fi");
        for (let count = 0; count < 4 && !back.activeFocus; count++) keyClick(Qt.Key_Tab);
        tryVerify(() => back.activeFocus, 60000);
        keyClick(Qt.Key_Space);
        isBack("Home");
        keyClick(Qt.Key_Escape);
        // What is said, and what may be pressed, is what the model has.
        shell.nav.push({ id: "said", title: "Réglages", language: "fr", accessibilityLabel: "Page", item: { accessibilityLabel: "Tous les réglages", rightItems: [
            { id: "b", title: "Off", isEnabled: false, accessibilityIdentifier: "off" },
            { id: "a", image: "gear.png", title: "Tune", isSelected: true, accessibilityLabel: "Tuner", accessibilityHint: "Opens it", accessibilityIdentifier: "tune" }] } });
        tryCompare(title, "text", "Réglages", 60000);
        const tune = find("tune"), off = find("off");
        compare([tune.text, tune.Accessible.name, tune.Accessible.description, tune.Accessible.checked, tune.enabled], ["Tune", "Tuner", "Opens it", true, true]);
        compare([off.text, off.Accessible.checkable, off.Accessible.description, off.enabled], ["Off", false, "unavailable", false]);
        compare(title.Accessible.name, "Tous les réglages");
        compare([263, 264].map(role => shell.nav.data(shell.nav.index(1, 0), role)), ["Page", "fr"]);
        push("next", "Next");
        compare(back.Accessible.name, "Back to Tous les réglages");
        compare([shell.nav.bar.back.language, shell.nav.bar.backMenu[0].language], ["fr", "fr"]);
        shell.nav.popToRoot();
        isBack("Home");
        // Long titles are cut, on their own side of the buttons.
        push("long", "x".repeat(300));
        tryVerify(() => title.truncated && title.width > 100, 60000);
        push("after", "after");
        tryVerify(() => back.truncated && back.x + back.width <= title.x, 60000);
        // A presented screen is drawn, and Escape dismisses it.
        shell.nav.perform([{ present: { screen: { id: "pin", title: "PIN" } } }]);
        tryVerify(() => find("sheet") && find("sheet").activeFocus, 60000);
        compare([find("sheet").Accessible.name, find("sheet").Accessible.role], ["PIN", Accessible.Dialog]);
        keyClick(Qt.Key_Escape);
        tryVerify(() => shell.nav.presented.length === 0 && !find("sheet"), 60000);
        compare(title.text, "after");
    }
}

// The module beside the built daemon; test_qml.py starts both. Each test has a nav of its own.
import QtQuick
import QtTest
import Navd

TestCase {
    id: tests
    name: "Navigation"
    when: windowShown
    width: 480; height: 320
    visible: true

    property int count: 0

    NavdClient { id: shell; name: "shell" }
    NavdClient { id: remote; name: "remote" }

    Component {
        id: modelMaker
        NavigationModel {}
    }
    Component {
        id: spyMaker
        SignalSpy {}
    }

    function make(client, nav) {
        return createTemporaryObject(modelMaker, tests, { client: client, nav: nav });
    }
    function spy(target, name) {
        return createTemporaryObject(spyMaker, tests, { target: target, signalName: name });
    }
    function ids(model) {
        const list = [];
        for (let row = 0; row < model.rowCount(); row++)
            list.push(model.data(model.index(row, 0), 257));
        return list.join(" ");
    }
    // A nav with home and wifi, and a model that shows it.
    function begin() {
        const model = make(shell, "test-" + ++count);
        model.create({ id: "home", title: "Home", item: { rightItems: [{ id: "scan", title: "Scan", action: "scan" }] } });
        model.push({ id: "wifi", title: "Wi-Fi", route: "settings/wifi", args: { band: 5, names: ["attic", null] } });
        tryCompare(model, "count", 2, 60000);
        return model;
    }

    function test_the_client_connects() {
        tryCompare(shell, "connected", true, 60000);
        compare(shell.features.length, 0);
    }

    function test_the_model_has_the_screens_and_the_bar() {
        const model = begin();
        compare(ids(model), "home wifi");
        const row = model.index(1, 0);
        compare([257, 258, 259, 261].map(role => model.data(row, role)), ["wifi", "Wi-Fi", "settings/wifi", 2]);
        compare(model.data(row, 260).names[0], "attic");
        compare([model.top.id, model.visible.id, model.revision, model.synced], ["wifi", "wifi", 2, true]);
        compare([model.bar.title, model.bar.hasBack, model.bar.backTitle, model.bar.height, model.bar.hidden],
                ["Wi-Fi", true, "Home", 44, false]);
        compare(model.bar.backMenu, [{ screen: "home", text: "Home" }]);
        compare(model.bar.rightButtons, []);
        const changed = spy(model.bar, "changed");
        model.popToRoot();
        tryCompare(model, "count", 1, 60000);
        compare(changed.count, 1);
        compare([model.bar.title, model.bar.hasBack, model.bar.rightButtons[0].title], ["Home", false, "Scan"]);
    }

    function test_rows_come_and_go_without_the_others() {
        const model = begin();
        const inserted = spy(model, "rowsInserted"), removed = spy(model, "rowsRemoved"), reset = spy(model, "modelReset");
        const data = spy(model, "dataChanged");
        model.perform([{ "insert": { screen: { id: "net" }, at: 1 } }], "stack");
        tryCompare(model, "count", 3, 60000);
        compare([ids(model), inserted.signalArguments[0][1], inserted.signalArguments[0][2]], ["home net wifi", 1, 1]);
        model.perform([{ "setStack": { screens: ["home", { id: "a" }, { id: "b" }, "wifi"] } }], "stack");
        tryCompare(model, "count", 4, 60000);
        // The row of net becomes that of a.
        compare([ids(model), removed.count, inserted.count, inserted.signalArguments[1][2]], ["home a b wifi", 0, 2, 2]);
        compare([data.count, data.signalArguments[0][0].row], [1, 1]);
        model.perform([{ "screen.set": { screen: "wifi", title: "Other" } }]);
        tryCompare(model.bar, "title", "Other", 60000);
        compare([data.count, data.signalArguments[1][0].row, reset.count], [2, 3, 0]);
    }

    function test_two_programs_pop_the_same_screen_once() {
        const one = begin();
        const two = make(remote, one.nav);
        tryCompare(two, "count", 2, 60000);
        const failures = [spy(one, "failed"), spy(two, "failed")], successes = [spy(one, "succeeded"), spy(two, "succeeded")];
        one.push({ id: "a" });
        tryCompare(two, "count", 3, 60000);
        tryCompare(one, "count", 3, 60000);
        // Both see the same screen, and neither has seen what the other does.
        verify(one.pop({ choice: 1 }) > 0);
        verify(two.pop() > 0);
        tryVerify(() => failures[0].count + failures[1].count === 1, 60000);
        tryVerify(() => successes[0].count + successes[1].count === 2, 60000);
        const failed = failures[0].count ? failures[0] : failures[1];
        compare(failed.signalArguments[0][1], "desync");
        verify(failed.signalArguments[0][3].indexOf("newest state") >= 0);
        compare(failed.signalArguments[0][4].top, "wifi");
        tryCompare(one, "count", 2, 60000);
        tryCompare(two, "count", 2, 60000);
    }

    function test_back_is_what_a_person_does() {
        const model = begin();
        const failed = spy(model, "failed"), events = spy(model, "eventOccurred");
        model.perform([{ "screen.set": { screen: "wifi", canPop: false } }]);
        tryCompare(model, "revision", 3, 60000);
        model.back();
        tryCompare(failed, "count", 1, 60000);
        compare(failed.signalArguments[0][1], "pop-blocked");
        tryVerify(() => events.signalArguments.some(each => each[0] === "popBlocked" && each[1].screen === "wifi"), 60000);
        model.perform([{ "screen.set": { screen: "wifi", canPop: true } }]);
        tryCompare(model, "revision", 4, 60000);
        model.back();
        tryCompare(model, "count", 1, 60000);
        verify(events.signalArguments.some(each => each[0] === "didPop"));
        model.activate("scan");
        tryVerify(() => events.signalArguments.some(each => each[0] === "buttonActivated" && each[1].action === "scan"), 60000);
    }

    function test_presentations_and_transitions_show() {
        const model = begin();
        model.perform([{ "present": { screen: { id: "pin", title: "PIN" } } }]);
        tryVerify(() => model.presented.length === 1, 60000);
        compare([model.visible.id, model.top.id], ["pin", "wifi"]);
        const changed = spy(model, "changed");
        model.perform([{ "dismiss": {} }], "visible");
        tryVerify(() => model.presented.length === 0, 60000);
        model.perform([{ "show": { screen: { id: "map" } } }]);
        tryVerify(() => model.transition.tid !== undefined, 60000);
        verify(changed.signalArguments[changed.count - 1][1]);
        model.perform([{ "transition.complete": { tid: model.transition.tid } }]);
        tryVerify(() => model.transition.tid === undefined, 60000);
    }

    function test_errors_are_signals() {
        const model = begin();
        const failed = spy(model, "failed"), ended = spy(model, "ended");
        const number = model.push({ id: "wifi" });
        tryCompare(failed, "count", 1, 60000);
        compare([failed.signalArguments[0][0], failed.signalArguments[0][1]], [number, "duplicate-screen"]);
        compare(model.perform([], ""), 0);
        compare(failed.signalArguments[1][1], "misuse");
        compare(model.perform([{ "pop": {} }], "title"), 0);
        const lonely = make(null, "kiosk");
        const alone = spy(lonely, "failed");
        compare([lonely.pop(), lonely.push("wifi"), alone.count, lonely.synced], [0, 0, 2, false]);
        model.perform([{ "nav.close": {} }], "rev");
        tryCompare(ended, "count", 1, 60000);
        compare([ended.signalArguments[0][0], model.synced], ["closed", false]);
        compare(model.pop(), 0);
        compare(failed.signalArguments[failed.count - 1][1], "desync");
    }

    function test_models_of_one_client_share_a_watch() {
        const one = begin();
        const two = make(shell, one.nav);
        tryCompare(two, "count", 2, 60000);
        two.nav = "another";
        compare([two.count, two.top, two.bar.title, two.revision], [0, undefined, "", 0]);
        one.push({ id: "a" });
        tryCompare(one, "count", 3, 60000);
        compare([two.synced, one.synced], [false, true]);
        one.destroy();
        two.nav = one.nav;
        tryCompare(two, "count", 3, 60000);
    }

    function test_a_loss_is_shown_and_repaired() {
        const model = begin();
        const synced = spy(model, "syncedChanged"), connected = spy(shell, "connectedChanged");
        // test_qml.py kills the daemon when it sees this screen, and starts it again.
        model.push({ id: "kill" });
        tryVerify(() => synced.count >= 2 && connected.count >= 2, 60000);
        tryCompare(model, "synced", true, 60000);
        // The mirror is right for its revision, which may be the one before the push: the diff follows.
        tryCompare(model, "count", 3, 60000);
        compare(ids(model), "home wifi kill");
        model.pop();
        tryCompare(model, "count", 2, 60000);
    }
}

// The screens of the kiosk: the records that navd keeps, and the contents that this page finds by `route` and `args`.
// Everything here is data and pure functions. What a tap does is in acts.js, by the name in `act`.

const SETTINGS_PROMPT = "Applies to the whole museum";

// The screen that hides the bar is left for another, so that one says that it wants the bar back.
const barShown = { prefersBarHidden: false };

/** Functions that make the records of the kiosk's screens, by route. */
export const screenRecords = {
  home: () => ({
    id: "home", ...barShown, title: "Harbour Museum", route: "home",
    item: { rightItems: [{ id: "status", image: "info", accessibilityLabel: "Status", action: "status.show" }] },
  }),
  guide: () => ({ id: "guide", ...barShown, title: "Tour", route: "guide" }),
  "guide/stars": () => ({ id: "stars", ...barShown, title: "Finding the Way", route: "guide/stars" }),
  "guide/light": () => ({ id: "light", ...barShown, title: "Keepers of the Light", route: "guide/light" }),
  "guide/ice": () => ({ id: "ice", ...barShown, title: "Charts of the Ice", route: "guide/ice" }),
  settings: () => ({ id: "settings", ...barShown, title: "Settings", route: "settings" }),
  "settings/network": () => ({
    id: "network", ...barShown, title: "Network & Internet", route: "settings/network",
    // The title is too long for the back button of the next screen, so that one has a text of its own.
    item: { backBarButtonItem: { title: "Network" }, largeTitleDisplayMode: "never" },
  }),
  "settings/network/wifi": () => ({
    id: "wifi", ...barShown, title: "Wi-Fi", route: "settings/network/wifi", args: { network: "Attic", channel: 11 },
    item: {
      prompt: SETTINGS_PROMPT, largeTitleDisplayMode: "never", leftItemsSupplementBackButton: true,
      leftItems: [{ id: "help", title: "Help", action: "wifi.help" }],
    },
    toolbarItems: [
      { id: "forget", title: "Forget", action: "wifi.forget" }, { id: "space", systemItem: "flexibleSpace" },
      { id: "share", title: "Share", action: "wifi.share" },
    ],
  }),
  networks: (args) => ({ id: "networks", ...barShown, title: "Choose a Network", route: "networks", args, item: { largeTitleDisplayMode: "never" } }),
  dns: () => ({
    id: "dns", ...barShown, title: "DNS", route: "dns", args: { mode: "automatic", server: "192.0.2.53" }, item: { largeTitleDisplayMode: "never" },
  }),
  "settings/display": () => ({ id: "display", ...barShown, title: "Display", route: "settings/display", item: { largeTitleDisplayMode: "never" } }),
  photo: () => ({ id: "photo", title: "Photo", route: "photo", prefersBarHidden: true }),
  about: () => ({ id: "about", title: "About This Kiosk", route: "about" }),
  rename: (args) => ({ id: "rename", title: "Rename", route: "rename", args }),
  pin: () => ({ id: "pin", title: "Enter PIN", route: "pin" }),
  screensaver: () => ({ id: "screensaver", title: "Screensaver", route: "screensaver" }),
  status: () => ({ id: "status", title: "Status", route: "status", args: { anchor: "status" } }),
  help: () => ({ id: "help", title: "Help", route: "help", args: { anchor: "help" } }),
  discard: (args) => ({ id: "discard", title: "Discard changes?", route: "discard", args }),
};

/** The modal presentation style of each screen that the kiosk presents, by id. */
export const presentationStyles = {
  about: "pageSheet", rename: "formSheet", pin: "formSheet", screensaver: "fullScreen", status: "popover", help: "popover", discard: "alert",
};

/** The navigation item of each form, with unsaved input and without. A form is a screen whose `args` may have a `draft`. */
export const formItems = {
  "settings/network/wifi": {
    unsaved: { prompt: "Unsaved changes", rightItems: [{ id: "save", title: "Save", style: "done", action: "wifi.save" }] },
    saved: { prompt: SETTINGS_PROMPT, rightItems: [] },
  },
  dns: {
    unsaved: { prompt: "Unsaved changes", rightItems: [{ id: "saveDNS", title: "Save", style: "done", action: "dns.save" }] },
    saved: { prompt: null, rightItems: [] },
  },
};

/** The routes that the kiosk registers, for `navctl open`. */
export const routes = [
  { match: "home", screens: ["home"] },
  { match: "settings", screens: ["home", { id: "settings", title: "Settings", route: "settings" }] },
  { match: "settings/:page", screens: ["home", { id: "settings", title: "Settings", route: "settings" }, { title: "Settings", route: "settings/{page}" }] },
];

export const networks = [
  { name: "Attic", value: "Excellent" }, { name: "Foyer", value: "Good" }, { name: "Workshop", value: "Good" },
  { name: "Shipping Office on the Other Quay, 5 GHz", value: "Weak" },
];

export const tints = ["blue", "indigo", "purple", "pink", "red", "orange", "green", "teal"];

const hallPage = (text, facts) => [
  { key: "text", layout: "text", text, rows: [] },
  { key: "facts", rows: facts.map(([title, value]) => ({ kind: "value", key: title, title, value })) },
];

/** Whether a screen has unsaved input. */
export const hasDraft = (screen) => screen?.args?.draft !== undefined && screen?.args?.draft !== null;

const argsWithDraft = (screen) => ({ ...screen.args, ...(hasDraft(screen) ? screen.args.draft : {}) });
const linkRow = (key, title, picture, tint, value) => ({ kind: "link", key, title, icon: picture, tint, value, act: "push", arg: key });

const contentsByRoute = {
  home: () => [
    {
      key: "tiles", layout: "tiles", rows: [
        { kind: "tile", key: "guide", title: "Start the tour", icon: "book", tint: "green", act: "push", arg: "guide" },
        { kind: "tile", key: "settings", title: "Settings", icon: "gear", tint: "gray", act: "push", arg: "settings" },
        { kind: "tile", key: "photo", title: "Picture of the day", icon: "sun", tint: "orange", act: "push", arg: "photo" },
        { kind: "tile", key: "about", title: "About", icon: "info", tint: "blue", act: "present", arg: "about" },
        { kind: "tile", key: "screensaver", title: "Screensaver", icon: "moon", tint: "indigo", act: "present", arg: "screensaver" },
      ],
    },
    {
      key: "today", header: "Today", footer: "Each window that you open shows the same screen. navd holds it.", rows: [
        { kind: "value", key: "open", title: "Open", value: "10:00 to 18:00" },
        { kind: "value", key: "guided", title: "Guided tour", value: "14:30, Hall 2" },
        { kind: "value", key: "cafe", title: "Café", value: "Soup of the day: leek" },
      ],
    },
  ],
  guide: () => [
    {
      key: "halls", header: "Ground floor", footer: "Allow an hour for the three halls.", rows: [
        linkRow("guide/stars", "Finding the Way", "globe", "indigo", "Hall 1"), linkRow("guide/light", "Keepers of the Light", "sun", "orange", "Hall 2"),
        linkRow("guide/ice", "Charts of the Ice", "search", "teal", "Hall 3"),
      ],
    },
  ],
  "guide/stars": () => hallPage("The sextant in this case crossed the Atlantic eleven times. Its mate took the height of the sun at noon, and knew how far north the ship was.", [
    ["Look for", "The sextant, London 1771"], ["Listen", "4 minutes"], ["Next", "Guided tour, 14:30"],
  ]),
  "guide/light": () => hallPage("Three families kept the harbour light for 112 years. They wound its clockwork every four hours, also on the night of the great flood.", [
    ["Look for", "The lens, Paris 1854"], ["Listen", "6 minutes"], ["Touch", "The brass crank on your left"],
  ]),
  "guide/ice": () => hallPage("Whalers drew these charts by hand, and corrected them each spring. The dotted line is where the ice lay in 1820.", [
    ["Look for", "Ann Marsh’s chart, 1822"], ["Listen", "3 minutes"], ["Light", "Dimmed, to keep the ink"],
  ]),
  settings: () => [
    { key: "one", rows: [linkRow("settings/network", "Network & Internet", "globe", "blue"), linkRow("settings/display", "Display", "sun", "indigo")] },
    {
      key: "two", rows: [
        { kind: "link", key: "rename", title: "Rename", icon: "pencil", tint: "orange", act: "present", arg: "rename" },
        { kind: "link", key: "about", title: "About", icon: "info", tint: "gray", act: "present", arg: "about" },
      ],
    },
  ],
  "settings/network": (screen, state) => [
    {
      key: "one", footer: "Bluetooth stays on while a remote control is paired.", rows: [
        linkRow("settings/network/wifi", "Wi-Fi", "wifi", "blue", state.screens.find(({ id }) => id === "wifi")?.args?.network),
        { kind: "value", key: "bluetooth", title: "Bluetooth", icon: "bluetooth", tint: "blue", value: "On" },
        { kind: "value", key: "hotspot", title: "Hotspot", icon: "link", tint: "green", value: "Off" },
      ],
    },
  ],
  "settings/network/wifi": (screen) => {
    const { network, channel } = argsWithDraft(screen);
    return [
      {
        key: "network", rows: [
          { kind: "link", key: "networks", title: "Network", value: network ?? "None", act: "network.pick" },
          { kind: "link", key: "dns", title: "DNS", value: "", act: "push", arg: "dns" },
        ],
      },
      {
        key: "radio", header: "Radio", footer: "Saving needs the PIN. Until then, nobody can leave this screen.", rows: [
          { kind: "field", key: "channel", title: "Channel", value: channel ?? "", numeric: true, least: 1, most: 165 },
        ],
      },
    ];
  },
  networks: (screen) => [
    {
      key: "networks", header: "Nearby", radio: true, rows: networks.map(({ name, value }) => (
        { kind: "choice", key: name, title: name, value, on: screen.args?.chosen === name, act: "network.choose", arg: name }
      )),
    },
  ],
  dns: (screen) => {
    const { mode, server } = argsWithDraft(screen);
    const choice = (key, title) => ({ kind: "choice", key, title, on: mode === key, act: "dns.mode", arg: key });
    return [
      { key: "mode", radio: true, header: "Configure", rows: [choice("automatic", "Automatic"), choice("manual", "Manual")] },
      ...(mode === "manual" ? [{ key: "servers", header: "Server", rows: [{ kind: "field", key: "server", title: "Address", value: server ?? "" }] }] : []),
    ];
  },
  "settings/display": (screen, state) => {
    const bar = state.parts.bar ?? {};
    return [
      {
        key: "bars", header: "Bars", footer: "The look of the bars is a part of the state, so it changes in every window.", rows: [
          { kind: "switch", key: "large", title: "Large titles", on: bar.prefersLargeTitles === true, act: "bar.large" },
          { kind: "switch", key: "black", title: "Black bars", on: bar.barStyle === "black", act: "bar.black" },
          { kind: "switch", key: "festive", title: "Festive bars", on: bar.appearance?.standard !== undefined, act: "bar.festive" },
        ],
      },
      {
        key: "tint", header: "Accent colour", radio: true, rows: tints.map((name) => (
          { kind: "choice", key: name, title: name[0].toUpperCase() + name.slice(1), swatch: name, on: (bar.tintColor ?? "blue") === name, act: "bar.tint", arg: name }
        )),
      },
    ];
  },
  photo: () => [{ key: "photo", layout: "photo", rows: [{ kind: "button", key: "done", title: "Done", act: "pop" }] }],
  about: (screen, state) => [
    {
      key: "about", rows: [
        { kind: "value", key: "nav", title: "Nav", value: state.nav },
        { kind: "value", key: "screens", title: "Screens on the stack", value: state.screens.length },
        { kind: "value", key: "rev", title: "Revision", value: state.rev },
        { kind: "value", key: "dig", title: "Digest", value: state.dig },
        { kind: "value", key: "epoch", title: "Epoch", value: state.epoch },
      ],
      footer: "Pull this sheet down, or choose Done.",
    },
  ],
  rename: (screen) => [
    {
      key: "name", footer: "After a change, this sheet stays until you save or discard it.", rows: [
        { kind: "field", key: "name", title: "Name", value: argsWithDraft(screen).name ?? "" },
      ],
    },
    { key: "save", rows: [{ kind: "button", key: "save", title: "Save", act: "rename.save", disabled: !hasDraft(screen) }] },
  ],
  pin: (screen, state, local) => [{ key: "pin", layout: "keypad", typed: local.pin.length, wrong: local.wrong, rows: [] }],
  screensaver: () => [{ key: "clock", layout: "clock", rows: [] }],
  status: (screen, state) => [
    {
      key: "status", rows: [
        { kind: "value", key: "rev", title: "Revision", value: state.rev },
        { kind: "value", key: "display", title: "Display", value: state.parts.environment?.owner ?? "free" },
      ],
    },
  ],
  help: () => [{ key: "help", layout: "text", text: "Channels 1, 6 and 11 do not overlap. Choose the one that the fewest neighbours use.", rows: [] }],
  discard: (screen) => [
    {
      key: "discard", layout: "alert", text: "What you typed is not saved.", rows: [
        { kind: "button", key: "keep", title: "Keep Editing", act: "discard.keep", style: "done" },
        { kind: "button", key: "discard", title: "Discard", act: "discard.discard", style: "destructive", arg: screen.args?.screen },
      ],
    },
  ],
};

/**
 * The contents of a screen, as groups of rows.
 *
 * @param {object} screen the record
 * @param {object} state the state that is shown
 * @param {{pin: string, wrong: boolean}} local what only this page knows
 */
export function screenContents(screen, state, local) {
  const page = Object.hasOwn(contentsByRoute, screen.route ?? "") ? contentsByRoute[screen.route] : null;
  return page ? page(screen, state, local) : unknownRouteContents(screen);
}

// Another client may push what this page has no contents for.
function unknownRouteContents(screen) {
  return [
    {
      key: "unknown", header: "No contents here for this route", rows: [
        { kind: "value", key: "id", title: "Screen", value: screen.id },
        { kind: "value", key: "route", title: "Route", value: screen.route ?? "none" },
        ...(screen.args === undefined ? [] : [{ kind: "code", key: "args", text: JSON.stringify(screen.args, null, 2).slice(0, 4000) }]),
      ],
    },
  ];
}

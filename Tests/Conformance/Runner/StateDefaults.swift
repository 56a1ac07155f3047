/// The values that members of the state have while they are left out.
enum StateDefaults {
  /// The default of a path like `bar.hidden`, as JSON; nil if it has none.
  static func value(_ path: String) -> String? { table[path] }

  private static let table: [String: String] = {
    var table: [String: String] = [:]
    for line in lines {
      let parts = line.split(separator: " ", maxSplits: 2)
      for member in parts[1].split(separator: ",") {
        table[parts[0] == "." ? String(member) : "\(parts[0]).\(member)"] = String(parts[2])
      }
    }
    return table
  }()

  /// The record, its members, and their default.
  private static let lines = [
    #". kind "content""#,
    ". title,route,args,restorationID,accessibilityLabel,language null",
    ". prefersBarHidden,prefersToolbarHidden null",
    ". wantsFullScreenLayout,extendsUnderOpaqueBars,hidesBottomBarWhenPushed false",
    ". canPop true",
    ". toolbarItems []",
    "item title,prompt,titleView,backBarButtonItem,backButtonTitle,accessibilityLabel,language null",
    "item hidesBackButton,leftItemsSupplementBackButton false",
    "item leftItems,rightItems []",
    #"item largeTitleDisplayMode "automatic""#,
    #"item backButtonDisplayMode "default""#,
    #"bar class "NavigationBar""#,
    #"toolbar class "Toolbar""#,
    "bar hidden,prefersLargeTitles false",
    "bar hid,translucent,barTintColor,tintColor,backgroundColor,shadowImage null",
    "bar backIndicatorImage,backIndicatorMask null",
    #"bar barStyle "default""#,
    "bar titleTextAttributes,titleOffsets,backgroundImages {}",
    "bar.titleOffsets default,compact,defaultPrompt,compactPrompt 0",
    "toolbar hidden true",
    "presented chain []",
    "environment owner,backTitleBudget,orientations null",
    "environment vCompact,scrollEdge,keyboard,screenReader false",
    #"environment contentSizeCategory "large""#,
    #"environment accessibilityContrast "normal""#,
    #"environment idiom "phone""#,
    "environment scale 2",
    "environment statusBar 20",
    #"environment locale "en""#,
    #"environment orientation "portrait""#,
    #"environment barPosition "any""#,
    #"environment animations "on""#,
    "settings attached,hidesBarsOnTap,hidesBarsOnSwipe,showsBarsOnNextScreen false",
    "settings hidesBarsWhenVerticallyCompact,hidesBarsWhenKeyboardAppears false",
    "settings interactivePopWithoutBackButton false",
    "settings container,restorationID null",
    "settings simultaneous,routes []",
    #"settings guard "removal""#,
    #"settings vetoScope "pushpop""#,
    "settings queue 8",
  ]
}

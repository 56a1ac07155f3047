// The entry of the single file: shows the recording that the file has in itself. It sends no request.

import { openWith } from "./opening.js";
import { RecordingSource } from "./recording.js";
import { show } from "./showing.js";

async function begin() {
  const text = document.getElementById("navrec")?.textContent ?? "";
  const recording = text.trim()
    ? await openWith("Opening the recording", (report) => RecordingSource.openText(text, report))
    : null;
  // Without one, the page can open other files.
  show(recording ?? RecordingSource.empty());
}

begin();

// The entry of the single file: shows the recording that the file has in itself. It sends no request.

import { openWithProgress } from "./opening.js";
import { RecordingSource } from "./recording.js";
import { showSource } from "./showing.js";

async function begin() {
  const text = document.getElementById("navrec")?.textContent ?? "";
  const recording = text.trim()
    ? await openWithProgress("Opening the recording", (report) => RecordingSource.openText(text, report))
    : null;
  // Without one, the page can open other files.
  showSource(recording ?? RecordingSource.empty());
}

begin();

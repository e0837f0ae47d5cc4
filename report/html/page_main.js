/* Draws the parts; one that fails leaves the others alone. */

/* Sections of what the trace has not. */
for (const id of [
    ...(isOfSamples ? ["timeline", "parts", "ip-samples", "selection"] : []),
    ...(data.values === undefined ? ["values"] : []),
    ...(data.live_objects === undefined ? ["live-objects"] : []),
    ...(data.fields === undefined ? ["fields"] : [])
]) {
    byId(id).remove();
    document.querySelector('nav a[href="#' + id + '"]').remove();
}

if (data.diff !== undefined) {
    document.querySelectorAll("main > section, header > nav").forEach((element) => element.id === "tree" || element.remove());
    byId("tree-title").textContent = "Flame graph of the differences";
}

if (data.fleet !== undefined)
    document.querySelectorAll("main > section, header > nav").forEach((element) => element.id === "phases" || element.remove());

if (data.tables !== undefined)
    document.querySelectorAll("main > section").forEach((element) => element.remove());

const draws = data.tables !== undefined ? [drawTables] : data.diff !== undefined ? [drawDiff] : data.fleet !== undefined ? [drawFleet] : isOfSamples ? [drawHead, drawSummary, drawPhases, drawValues, drawLiveObjects, drawTree, drawAbout] : [drawHead, drawSummary, drawPhases, drawTimeline, drawParts, drawPlaces, drawValues, drawLiveObjects, drawFields, drawTree, drawSweep, drawAbout];
for (const draw of [...draws, fitAll]) {
    try {
        draw();
    } catch (error) {
        console.error(error);
    }
}

/* On paper nothing can be opened. */
addEventListener("beforeprint", () =>
    document.querySelectorAll("details").forEach((details) => {
        details.open = true;
    })
);

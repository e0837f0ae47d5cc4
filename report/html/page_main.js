/* Draws the parts; one that fails leaves the others alone. */

for (const draw of [drawHead, drawSummary, drawPhases, drawTimeline, drawParts, drawTree, drawSweep, drawAbout]) {
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

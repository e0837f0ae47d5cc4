/* Draws the parts; one that fails leaves the others alone. */

const draws = [drawHead, drawSummary, drawPhases, drawTimeline, drawParts, drawPlaces, drawTree, drawSweep, drawAbout];
for (const draw of draws) {
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

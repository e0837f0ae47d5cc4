/* Marks under the time line's regions: collections, and when mmprof stopped the program. */

/* Each collection; its width is at least 2 pixels. */
function drawSingleCollections(chart, width, top) {
    const at = (ns) => lineLeft + Math.min(1, ns / line.end_ns) * (width - lineLeft - lineRight);
    for (const [start, ns, name, cause] of line.collections)
        chart.append(
            svg(
                "rect",
                {
                    x: at(start).toFixed(2),
                    y: top + 3,
                    width: Math.max(2, at(start + ns) - at(start)).toFixed(2),
                    height: 9,
                    style: { fill: partColour("gc") }
                },
                svg(
                    "title",
                    {},
                    name + " at " + formatNs(start) + ": " + formatNs(ns) + (cause === "" ? "" : ", " + cause)
                )
            )
        );
}

/* The collector's threads on CPUs, and in front of them collections, as far as they are known one by one. */
function drawCollections(chart, width, top, gc) {
    const x = lineX(width),
        shade = line.collections.length > 0 ? 0.35 : 1;
    chart.append(
        svg("text", { class: "quiet", x: lineLeft - 6, y: top + 12, "text-anchor": "end" }, "GC")
    );
    gc?.cpus.forEach((cpus, i) => {
        if (cpus > 0.01)
            chart.append(
                svg("rect", {
                    x: x(i),
                    y: top + 3,
                    width: Math.max(1, x(i + 1) - x(i)),
                    height: 9,
                    style: { fill: partColour("gc"), opacity: Math.min(shade, 0.35 + cpus).toFixed(2) }
                })
            );
    });
    drawSingleCollections(chart, width, top);
}

/* When the program stood still, for mmprof to change its classes. */
function drawStops(chart, width, top) {
    const at = (ns) => lineLeft + Math.min(1, ns / line.end_ns) * (width - lineLeft - lineRight);
    chart.append(svg("text", { class: "quiet", x: lineLeft - 6, y: top + 12, "text-anchor": "end" }, "mmprof"));
    for (const [start, ns] of line.stops)
        chart.append(
            svg(
                "rect",
                {
                    class: "stop",
                    x: at(start).toFixed(2),
                    y: top + 3,
                    width: Math.max(2, at(start + ns) - at(start)).toFixed(2),
                    height: 9
                },
                svg(
                    "title",
                    {},
                    "classes were changed at " + formatNs(start) + ": the program stood still for " + formatNs(ns) +
                        " at most"
                )
            )
        );
}

/* Marks under the time line's regions: when the collector ran, and when mmprof stopped the program. */

/* The collector's threads on CPUs. */
function drawCollections(chart, x, top, gc) {
    chart.append(
        svg("text", { class: "quiet", x: lineLeft - 6, y: top + 12, "text-anchor": "end" }, "GC")
    );
    gc.cpus.forEach((cpus, i) => {
        if (cpus > 0.01)
            chart.append(
                svg("rect", {
                    x: x(i),
                    y: top + 3,
                    width: Math.max(1, x(i + 1) - x(i)),
                    height: 9,
                    style: { fill: partColour("gc"), opacity: Math.min(1, 0.35 + cpus).toFixed(2) }
                })
            );
    });
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
